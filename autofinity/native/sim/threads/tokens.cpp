#include "tokens.hpp"

#include <utility>

namespace autofinity::sim {

void Tokens::post(const Pu& p, std::uint32_t number) {
    now_.tokens[number] = {p.time, p.core + 1};
    const auto waiters = now_.waiters.find(number);
    if (waiters == now_.waiters.end()) return;
    const std::vector<Waiter> woken = std::move(waiters->second);
    now_.waiters.erase(waiters);
    for (const Waiter& waiter : woken) {
        Stream& s = board_.streams[waiter.stream];
        if (waiter.as == Resume::choose) ++s.units.resumable;
        // The waiter may have found other work, or wait for a lock by now.
        if (s.status == Status::blocked && s.resume == waiter.as)
            run_queues_.wake(waiter.stream,
                             p.time + memory_.transfer(p.core, board_.pus[s.pu].core));
    }
}

void Tokens::see(Pu& p, Stream& s, std::uint32_t number) const {
    const Token& token = now_.tokens[number];
    const std::uint32_t from = token.core_plus_one - 1;
    const Ticks seen = token.posted_at + (from == p.core ? 0 : memory_.transfer(from, p.core));
    if (seen > p.time) {
        s.account.sync_ticks += seen - p.time;
        p.time = seen;
    }
}

void Tokens::forget(const Process& process) {
    for (std::uint32_t i = process.first_token; i < process.first_token + process.tokens; ++i) {
        now_.tokens[i] = {};
        now_.waiters.erase(i);
    }
}

}  // namespace autofinity::sim
