#include "os_events.hpp"

namespace autofinity::sim {

OsEvents::OsEvents(const MachineModel& machine, Board& board, RunQueues& run_queues,
                   OsScheduler* os, Timetable& timetable)
    : machine_(machine), board_(board), run_queues_(run_queues), os_(os), timetable_(timetable) {
    if (os_ == nullptr) return;
    if (machine_.balance != 0) timetable_.balance = machine_.balance;
    if (machine_.daemon != 0) timetable_.daemon = os_->until_daemon();
}

void OsEvents::act(Ticks at) {
    if (at >= timetable_.balance) {
        ++balance_tick_;
        timetable_.balance = at + machine_.balance;
        for (const OsScheduler::Move& move : os_->balance(balance_tick_, run_queues_.loads()))
            carry_out(move, at);
    }
    if (at >= timetable_.daemon) {
        timetable_.daemon = at + os_->until_daemon();
        const std::uint32_t pu = os_->any_pu();
        if (const std::uint32_t stream = board_.pus[pu].stream; stream != nobody)
            if (const auto to = os_->idle_near(stream, pu, run_queues_.loads()))
                run_queues_.move(stream, *to, at);
    }
    board_.order_anew();
    timetable_.set_stop();
}

void OsEvents::carry_out(const OsScheduler::Move& wanted, Ticks at) {
    const Pu& from = board_.pus[wanted.from];
    if (wanted.running) {
        if (from.stream != nobody && os_->may_run(from.stream, wanted.to))
            run_queues_.move(from.stream, wanted.to, at);
        return;
    }
    for (const std::uint32_t stream : from.queue)
        if (os_->may_run(stream, wanted.to)) {
            run_queues_.move(stream, wanted.to, at);
            return;
        }
}

}  // namespace autofinity::sim
