#include "stretch_order.hpp"

#include <algorithm>

namespace autofinity::sim {

using trace::Kind;

StretchOrder::StretchOrder(const Program& program)
    : program_(program),
      streams_(program.streams.size()),
      waited_(streams_ * streams_),
      pending_(streams_),
      awaits_left_(program.tokens.size()) {
    for (const StreamPlan& plan : program.streams)
        for (const Step& step : plan.steps)
            each_await(step, [this](std::uint32_t token) { ++awaits_left_[token]; });
}

template <class Visit>
void StretchOrder::each_await(const Step& step, Visit visit) const {
    const auto kind = static_cast<Kind>(step.kind);
    if (kind == Kind::await) visit(step.line);
    if (kind == Kind::lock && (step.flags & step_needs) != 0)
        for (const std::uint32_t token :
             program_.lock_needs[step.reads | std::uint32_t{step.writes} << 16])
            visit(token);
}

void StretchOrder::end(std::uint32_t stream, std::uint32_t stretch, const Step& step) {
    acquire(stream);
    waited_[stream * streams_ + stream] = stretch;
    std::vector<Pending>& pending = pending_[stream];
    switch (static_cast<Kind>(step.kind)) {
        case Kind::lock:
            pending.push_back({&locks_[step.line], no_token});
            break;
        case Kind::unlock:
            release(stream, locks_[step.line]);
            break;
        case Kind::barrier: {
            Generations& of = barriers_[step.line];
            const std::uint64_t participants = std::max<std::uint64_t>(step.reads, 1);
            Clock& clock = of.clocks[of.arrived / participants % 2];
            // Who begins a generation has left the one before, which has ended that before it.
            if (of.arrived++ % participants == 0) clock.clear();
            release(stream, clock);
            pending.push_back({&clock, no_token});
            break;
        }
        case Kind::post:
            if (awaits_left_[step.line] != 0) release(stream, tokens_[step.line]);
            break;
        default:
            break;
    }
    each_await(step, [&](std::uint32_t token) { pending.push_back({&tokens_[token], token}); });
}

void StretchOrder::acquire(std::uint32_t stream) {
    for (const auto& [clock, token] : pending_[stream]) {
        for (std::size_t i = 0; i < clock->size(); ++i) {
            std::uint32_t& waited = waited_[stream * streams_ + i];
            waited = std::max(waited, (*clock)[i]);
        }
        if (token != no_token && --awaits_left_[token] == 0) tokens_.erase(token);
    }
    pending_[stream].clear();
}

void StretchOrder::release(std::uint32_t stream, Clock& into) {
    into.resize(streams_);
    for (std::size_t i = 0; i < streams_; ++i)
        into[i] = std::max(into[i], waited_[stream * streams_ + i]);
}

}  // namespace autofinity::sim
