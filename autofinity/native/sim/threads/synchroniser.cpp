#include "synchroniser.hpp"

#include <utility>

#include "deadlock.hpp"
#include "sim/error.hpp"

namespace autofinity::sim {

using trace::Kind;

Synchroniser::Synchroniser(const Program& program, const Memory& memory, Board& board, Issue& issue,
                           Accesses& accesses, RunQueues& run_queues)
    : program_(program),
      board_(board),
      issue_(issue),
      accesses_(accesses),
      tokens_(program, memory, board, run_queues),
      locks_(program, board, issue, accesses, run_queues, tokens_),
      barriers_(program, board, issue, accesses, run_queues),
      units_(program, board, accesses, run_queues, tokens_, barriers_) {}

bool Synchroniser::carry_out(std::uint32_t pu, Stream& s, const Step& step) {
    Pu& p = board_.pus[pu];
    switch (step.kind()) {
        case Kind::lock:
            return locks_.take(pu, s, step);
        case Kind::unlock:
            locks_.release(p, s, step);
            return true;
        case Kind::barrier:
            barriers_.reach(p, s, step);
            if (program_.instance_of_barrier[step.barrier()] == no_token)
                return barriers_.wait(pu, s, step.barrier());
            units_.join_barrier(p, s, step.barrier());
            return true;
        case Kind::post:
            tokens_.post(p, step.token());
            units_.posted(step.token(), p.time);
            return true;
        case Kind::await:
            issue_.drain(p, s);
            if (!tokens_.posted(step.token())) return units_.await(pu, s, step.token());
            tokens_.see(p, s, step.token());
            return true;
        case Kind::unit_begin:
            return units_.reach(pu, s, program_.units[step.unit()]);
        case Kind::unit_end:
            return units_.end(pu, s, program_.units[step.unit()]);
        default:
            return true;
    }
}

bool Synchroniser::resume(std::uint32_t pu, Stream& s) {
    const Resume first = std::exchange(s.resume, Resume::nothing);
    if (first == Resume::choose) return units_.choose(pu, s);
    if (first == Resume::retry) return true;
    accesses_.touch(board_.pus[pu], s, s.resume_line, first == Resume::take_lock);
    if (first == Resume::take_lock) ++s.account.counts[lock_acquisitions];
    return true;
}

bool Synchroniser::awaits_creation(const Stream& s) const {
    const Step* first = s.position.at;
    return first->is(Kind::thread_begin) && first[1].is(Kind::await) &&
           !tokens_.posted(first[1].token());
}

void Synchroniser::await_creation(Stream& s, Ticks at) {
    for (int i = 0; i < 2; ++i) s.instructions += s.position.at++->gap();
    ++s.account.counts[await_waits];
    units_.suspend(s, s.position.at[-1].token());
    s.resume = Resume::choose;
    s.status = Status::blocked;
    s.blocked_at = at;
}

void Synchroniser::deadlock() const {
    throw SimulationError(deadlock_text(program_, board_, tokens_, locks_, barriers_));
}

void Synchroniser::remember() {
    tokens_.remember();
    locks_.remember();
    barriers_.remember();
    units_.remember();
}

void Synchroniser::restore() {
    tokens_.restore();
    locks_.restore();
    barriers_.restore();
    units_.restore();
}

void Synchroniser::forget(const Process& process) {
    tokens_.forget(process);
    locks_.forget(process);
    barriers_.forget(process);
    units_.forget(process);
}

}  // namespace autofinity::sim
