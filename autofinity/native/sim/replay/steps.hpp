// The steps of a stream, one after the other, for as long as its PU has the turn: what stays in the
// L1 here, all else by others.
#pragma once

#include <algorithm>
#include <utility>

#include "accesses.hpp"
#include "board.hpp"
#include "processes.hpp"
#include "sim/threads/synchroniser.hpp"

namespace autofinity::sim {

class Steps {
  public:
    Steps(Memory& memory, Board& board, Issue& issue, Bursts& bursts, Accesses& accesses,
          Watching& watching, Synchroniser& synchroniser, Processes& processes)
        : memory_(memory),
          board_(board),
          issue_(issue),
          bursts_(bursts),
          accesses_(accesses),
          watching_(watching),
          synchroniser_(synchroniser),
          processes_(processes) {}

    // Takes the stream's steps until it has to wait or give way. `watched`: there are detectors to
    // be told.
    template <bool watched>
    void run(std::uint32_t index, Pu& p, Stream& s, Ticks horizon);

  private:
    // How far ahead the steps themselves are brought near, 64 bytes at a time: streams take turns
    // of a few steps each, which no prefetcher of a host follows.
    static constexpr std::size_t brought_near = 16;

    // A step that is due: an access that may leave the core, or no access. False when the PU must
    // give way.
    template <bool watched>
    bool take(std::uint32_t index, Pu& p, Stream& s, const Step& step, std::uint64_t issue,
              Ticks at, Ticks horizon);
    bool take_event(std::uint32_t index, Pu& p, Stream& s, const Step& step);
    // The same where something is due before the next step, or the gap before it has been used up
    // in part.
    bool attend(std::uint32_t index, Pu& p, Stream& s, Ticks horizon);
    bool wait_for_window(Pu& p, Stream& s, Ticks horizon);
    bool take_deferred(Pu& p, Stream& s, Ticks horizon);
    bool finish_gap(std::uint32_t index, Pu& p, Stream& s, Ticks horizon);

    Memory& memory_;
    Board& board_;
    Issue& issue_;
    Bursts& bursts_;
    Accesses& accesses_;
    Watching& watching_;
    Synchroniser& synchroniser_;
    Processes& processes_;
};

template <bool watched>
[[gnu::always_inline]] inline bool Steps::take(std::uint32_t index, Pu& p, Stream& s,
                                               const Step& step, std::uint64_t issue, Ticks at,
                                               Ticks horizon) {
    if (step.is_access()) {
        const std::uint32_t next_gap = s.position.at[1].gap();
        if (!accesses_.carry_out<watched>(p, s, step, issue, at, horizon, next_gap)) return false;
        if (memory_.worth_foresight())
            memory_.foresee(memory_.caches(p.cached_core), s.position.at, s.foreseen);
        ++s.position.at;
        return true;
    }
    if (const Ticks free = Issue::carried_out(p, step, at); Issue::must_wait(p, at, free, horizon))
        return issue_.put_off(p, at, free);
    s.instructions = issue;
    p.time = at;
    return take_event(index, p, s, step);
}

template <bool watched>
[[gnu::always_inline]] inline void Steps::run(std::uint32_t index, Pu& p, Stream& s,
                                              Ticks horizon) {
    PrivateCaches& c = memory_.caches(p.cached_core);
    const DirectSets l1(c.l1);
    const Ticks instruction = p.instruction;
    // Where the stream is, in registers: a set that changes could alias what is in memory.
    const Step* next = s.position.at;
    std::uint64_t done = s.instructions, watch = p.watch;
    Ticks now = p.time;
    const auto put_back = [&] {
        s.position.at = next;
        s.instructions = done;
        p.time = now;
    };
    std::uint32_t last_page = 0;
    const auto look_again = [&] {
        next = s.position.at;
        done = s.instructions;
        watch = p.watch;
        now = p.time;
        last_page = 0;
    };
    std::uint64_t loads = 0, stores = 0;
    [[maybe_unused]] Watching::Untold untold;
    const auto count_accesses = [&] {
        s.account.counts[data_cache_loads] += std::exchange(loads, 0);
        s.account.counts[data_cache_stores] += std::exchange(stores, 0);
    };
    for (;;) {
        bring_near(next, brought_near);
        // Each field for itself: a copy of the step would be stored first, and waited for.
        const std::uint32_t gap = next->gap();
        const std::uint64_t issue = done + gap;
        if (issue >= watch) [[unlikely]] {
            if (!p.misses.empty() && p.misses.oldest().limit <= issue && s.skip == 0 &&
                s.deferred.empty() && !p.shares) {
                const std::uint64_t limit = std::max(p.misses.oldest().limit, done);
                now += issue_.wait_for_oldest_miss(p, s, now + (limit - done) * instruction);
                p.set_watch(s);
                watch = p.watch;
                continue;
            }
            put_back();
            if (s.skip != 0) count_accesses();
            if (!attend(index, p, s, horizon)) break;
            look_again();
            if (board_.yield) {
                p.key = p.time;
                break;
            }
            continue;
        }
        const Ticks at = now + gap * instruction;
        if (at > horizon) {
            put_back();
            p.key = at;
            break;
        }
        const Step::Kinds kinds = next->kinds();
        if (next->is_access() && kinds.plain()) {
            const Line line = next->line();
            const std::uint16_t reads = next->reads(), writes = next->writes();
            const std::uint32_t page = line >> page_shift;
            if (page == last_page || c.translates(page)) {
                last_page = page;
                const Word if_read = Word{0} - (writes == 0);
                if (l1.use(line, if_read)) {
                    loads += reads;
                    stores += writes;
                    done = issue;
                    now = at;
                    if constexpr (watched) {
                        if (untold.page != page) watching_.tell(p, s, untold);
                        untold.page = page;
                        untold.accesses += reads + writes;
                    }
                    if (kinds.burst()) bursts_.remember(s, *next, issue);
                    ++next;
                    continue;
                }
            }
        }
        if constexpr (watched) {
            watching_.tell(p, s, untold);
            if (untold.cost != 0) {  // the step is due later
                now += std::exchange(untold.cost, 0);
                continue;
            }
        }
        put_back();
        const Step step = *next;                  // a unit that ends may take its steps with it
        if (!step.is_access()) count_accesses();  // the step may begin or end the region
        if (!take<watched>(index, p, s, step, issue, at, horizon)) break;
        look_again();
        if (board_.yield) {
            p.key = p.time;
            break;
        }
    }
    count_accesses();
    if constexpr (watched) {
        watching_.tell(p, s, untold);
        p.time += untold.cost;
        p.key += untold.cost;
    }
    if (!p.queue.empty()) p.key = std::min(p.key, std::max(p.time, p.slice_end));
}

}  // namespace autofinity::sim
