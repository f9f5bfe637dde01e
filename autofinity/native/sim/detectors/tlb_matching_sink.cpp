// Equal entries in the last TLBs of several cores, and the triggers of the comparison (Cruz, Diener
// & Navaux 2014, sections 4.2 and 4.3).
#include <algorithm>
#include <array>

#include "detect/tlb_mirrors.hpp"
#include "sim/memory/zeroed.hpp"
#include "sinks.hpp"

namespace autofinity::sim {
namespace {

using detect::no_thread;
using detect::Thread;

class TlbMatchingSink final : public Sink {
  public:
    TlbMatchingSink(SinkHost& host, const TlbMatching& wanted)
        : Sink(host),
          trigger_(wanted.trigger),
          entries_(shape(host.machine).sets * shape(host.machine).ways),
          misses_(wanted.misses.value_or(scaled(host.sharing.threads() * entries_,
                                                wanted.misses_scale, host.sharing.threads()))),
          rest_for_each_(1 / wanted.most_share - 1),
          period_(std::max<Ticks>(1, host.ticks(wanted.period_ns))),
          entry_(clock_ticks(wanted.entry_cycles)),
          compare_(clock_ticks(wanted.compare_cycles)),
          mirrors_(host.memory.most_cached_cores(), shape(host.machine).sets),
          cores_(host.memory.most_cached_cores()),
          of_program_(host.memory.units().count()),
          next_(trigger_ == TlbMatching::Trigger::time ? period_ : never) {}

    Ticks faulted(const Actor&, std::uint32_t page, Line, bool) override {
        of_program_[host_.memory.units().of(page)] = 1;
        return 0;
    }
    // TLBs that threads share know the threads that have used an entry; in another TLB it is the
    // thread that runs there.
    Ticks accessed(const Actor& actor, std::uint32_t page, std::uint64_t) override {
        if (actor.thread == no_thread) return 0;
        Users& users = users_of(actor.cached_core)[host_.memory.units().of(page)];
        if (users[0] != actor.thread + 1u && users[1] != actor.thread + 1u)
            users = {static_cast<Thread>(actor.thread + 1), users[0]};
        return 0;
    }
    Ticks evicted(std::uint32_t cached_core, std::uint32_t unit, bool) override {
        users_of(cached_core)[unit] = {};
        return 0;
    }
    Ticks walked(const Actor& actor, std::uint32_t page) override {
        Core& core = cores_[actor.cached_core];
        core.thread = actor.thread;
        core.used = true;
        if (actor.thread == no_thread) return 0;
        switch (trigger_) {
            case TlbMatching::Trigger::local_misses:
                if (core.owed_rest != 0) return 0;
                return ++core.misses >= misses_ ? read_own(actor.cached_core) : 0;
            case TlbMatching::Trigger::global_misses:
                if (++all_misses_ >= misses_) next_ = 0;
                return 0;
            case TlbMatching::Trigger::shared_pages:
                return look_for(actor, page);
            case TlbMatching::Trigger::time:
                return 0;
        }
        return 0;
    }
    Ticks next() const override { return next_; }
    void act(Ticks now) override {
        if (trigger_ == TlbMatching::Trigger::local_misses)
            let_rest(now);
        else
            read_all(now);
    }

  private:
    using Users = std::array<Thread, 2>;  // plus one; the latest first
    struct Core {
        std::uint64_t misses = 0;
        Thread thread = no_thread;  // the thread that runs there
        bool used = false;
        Ticks rests_until = 0;
        Ticks owed_rest = 0;  // rest owed for a reading of its own; 0: it does not rest
    };

    static std::uint64_t scaled(std::size_t misses, double scale, std::size_t least) {
        return std::max<std::uint64_t>(
            least, static_cast<std::uint64_t>(static_cast<double>(misses) * scale + 0.5));
    }
    // Cores that have read since the last time begin to rest; cores that have rested count misses
    // again.
    void let_rest(Ticks now) {
        next_ = never;
        for (Core& core : cores_) {
            if (core.owed_rest == 0) continue;
            if (core.rests_until == 0)
                core.rests_until = now + core.owed_rest;
            else if (core.rests_until <= now)
                core.owed_rest = core.rests_until = 0;
            if (core.owed_rest != 0) next_ = std::min(next_, core.rests_until);
        }
    }
    // All cores read their TLBs, and each pays for its own. Cores that are still reading, or that
    // have not had a period for the program since, are left out: otherwise a short period would
    // stop the program.
    void read_all(Ticks now) {
        const bool timed = trigger_ == TlbMatching::Trigger::time;
        next_ = timed ? now + period_ : never;
        all_misses_ = 0;
        ++host_.triggers;
        std::vector<std::uint32_t> readers;
        for (std::uint32_t cached_core = 0; cached_core < cores_.size(); ++cached_core)
            if (cores_[cached_core].used && (!timed || now >= cores_[cached_core].rests_until))
                readers.push_back(cached_core);
        for (const std::uint32_t cached_core : readers) {
            const Ticks read = entry_ * mirror(cached_core);
            host_.charge(cached_core, Overhead::tlb_read, read);
            cores_[cached_core].rests_until = now + read + period_;
        }
        if (readers.empty()) return;
        const Ticks compare = compare_ * mirrors_.match_all(host_.sharing) / readers.size();
        for (const std::uint32_t cached_core : readers) {
            host_.charge(cached_core, Overhead::tlb_compare, compare);
            cores_[cached_core].rests_until += compare;
        }
        if (timed) next_ = std::max(next_, next_reading());
    }
    // Time at which the first core may be read again.
    Ticks next_reading() const {
        Ticks first = never;
        for (const Core& core : cores_)
            if (core.used) first = std::min(first, core.rests_until);
        return first;
    }
    static CacheShape shape(const MachineModel& machine) {
        const PrivateSide& side = machine.classes[0].side;
        return side.tlb2.ways != 0 ? side.tlb2 : side.tlb1;
    }
    static Ticks clock_ticks(double clocks) {
        return static_cast<Ticks>(clocks * static_cast<double>(ticks_per_clock));
    }
    Zeroed<Users>& users_of(std::uint32_t cached_core) {
        if (cached_core >= users_.size()) users_.resize(cached_core + 1);
        if (!users_[cached_core])
            users_[cached_core] = std::make_unique<Zeroed<Users>>(host_.memory.units().count());
        return *users_[cached_core];
    }

    // Reads the TLB of a core. Returns the number of entries read.
    std::size_t mirror(std::uint32_t cached_core) {
        mirrors_.clear(cached_core);
        PrivateCaches& caches = host_.memory.caches(cached_core);
        const bool told_apart =
            host_.machine.topology.pus().size() > host_.machine.topology.cores();
        const auto put = [&](std::uint32_t unit) {
            if (of_program_[unit] == 0) return;
            const std::size_t set = unit % mirrors_.sets();
            if (!told_apart) {
                mirrors_.put(cached_core, set, {unit, cores_[cached_core].thread});
                return;
            }
            for (const Thread user : users_of(cached_core)[unit])
                if (user != 0)
                    mirrors_.put(cached_core, set, {unit, static_cast<Thread>(user - 1)});
        };
        std::size_t entries = 0;
        if (caches.tlb2.ways() != 0) {
            for (const Word word : caches.tlb2.words())
                if (word != 0) {
                    put(line_of(word));
                    ++entries;
                }
        } else {
            caches.tlb1.each([&](std::uint32_t unit) {
                put(unit);
                ++entries;
            });
        }
        return entries;
    }
    Ticks read_own(std::uint32_t cached_core) {
        cores_[cached_core].misses = 0;
        ++host_.triggers;
        const std::size_t entries = mirror(cached_core);
        const std::size_t looked_at = mirrors_.match(cached_core, host_.sharing);
        const Ticks cost = host_.spend(Overhead::tlb_read, entry_ * entries) +
                           host_.spend(Overhead::tlb_compare, compare_ * looked_at);
        cores_[cached_core].owed_rest =
            static_cast<Ticks>(static_cast<double>(cost) * rest_for_each_ + 0.5);
        if (cores_[cached_core].owed_rest != 0) next_ = 0;
        return cost;
    }
    // For a TLB that software fills: finds the other cores that have the missed page.
    Ticks look_for(const Actor& actor, std::uint32_t page) {
        const std::uint32_t unit = host_.memory.units().of(page);
        bool shared_page = false;
        std::size_t looked_at = 0;
        for (std::uint32_t cached_core = 0; cached_core < cores_.size(); ++cached_core) {
            if (cached_core == actor.cached_core || !cores_[cached_core].used) continue;
            PrivateCaches& other = host_.memory.caches(cached_core);
            looked_at += shape(host_.machine).ways;
            const bool has = other.tlb2.ways() != 0
                                 ? other.tlb2.find(other.tlb2.at(unit), unit) >= 0
                                 : other.tlb1.holds(unit);
            if (!has) continue;
            shared_page = true;
            host_.sharing.count(actor.thread, cores_[cached_core].thread);
        }
        host_.triggers += shared_page;
        return shared_page ? host_.spend(Overhead::tlb_compare, compare_ * looked_at) : 0;
    }

    TlbMatching::Trigger trigger_;
    std::size_t entries_;
    std::uint64_t misses_;
    double rest_for_each_;  // rest for each tick of a reading
    Ticks period_, entry_, compare_;
    detect::TlbMirrors mirrors_;
    std::vector<Core> cores_;                            // by cached_core
    std::vector<std::unique_ptr<Zeroed<Users>>> users_;  // by cached_core, of each unit
    // By unit. The other units are the simulator's own, of locks and barriers.
    Zeroed<std::uint8_t> of_program_;
    std::uint64_t all_misses_ = 0;
    Ticks next_;
};

}  // namespace

std::unique_ptr<Sink> make_sink(SinkHost& host, const TlbMatching& wanted) {
    return std::make_unique<TlbMatchingSink>(host, wanted);
}

}  // namespace autofinity::sim
