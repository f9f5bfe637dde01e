// Accesses counted in the TLB (SAMMU) or in the page table (LAPT).
#include <algorithm>

#include "detect/page_history.hpp"
#include "sim/memory/zeroed.hpp"
#include "sinks.hpp"

namespace autofinity::sim {
namespace {

// Units with findings to report, each once.
class Told {
  public:
    explicit Told(std::size_t units) : told_(units) {}
    // Whether it is the first time since they were taken.
    bool tell(std::uint32_t unit, std::uint32_t page) {
        if (told_[unit] != 0) return false;
        told_[unit] = 1;
        pages_.push_back({unit, page});
        return true;
    }
    template <typename CountsOf>
    std::vector<PageVector> take(const CountsOf& counts_of) {
        std::vector<PageVector> found;
        for (const auto& [unit, page] : std::exchange(pages_, {})) {
            told_[unit] = 0;
            const auto counts = counts_of(unit);
            found.push_back({page, {counts.begin(), counts.end()}});
        }
        return found;
    }

  private:
    struct Page {
        std::uint32_t unit, page;
    };
    Zeroed<std::uint8_t> told_;
    std::vector<Page> pages_;
};

// SAMMU. Its tables lie in memory, and its unit reads and writes them as it does page tables. The
// paper takes an access to keep the program for as long as it lasts (section 4.4), and so do we.
class TlbCountersSink final : public Sink {
  public:
    TlbCountersSink(SinkHost& host, const TlbAccessCounters& wanted)
        : Sink(host),
          most_accesses_(wanted.most_accesses),
          history_(host.memory.units().count(), host.machine.topology.nodes(),
                   {wanted.sharers, wanted.most_counted, wanted.v_add, wanted.numa_threshold}),
          told_(host.memory.units().count()) {}

    Ticks accessed(const Actor& actor, std::uint32_t page, std::uint64_t count) override {
        if (actor.thread == detect::no_thread) return 0;
        const std::uint32_t unit = host_.memory.units().of(page);
        Entry& entry = entries_of(actor.cached_core)[unit];
        entry.thread = actor.thread;
        entry.page = page;
        Ticks cost = 0;
        count += entry.accesses;
        for (; count >= most_accesses_; count -= most_accesses_)
            cost += update(actor.cached_core, unit, entry, most_accesses_);
        entry.accesses = static_cast<std::uint32_t>(count);
        return host_.spend(Overhead::interrupt, cost);
    }
    // Shootdowns by other cores are charged to the core that loses the entry.
    Ticks evicted(std::uint32_t cached_core, std::uint32_t unit, bool forced) override {
        Entry& entry = entries_of(cached_core)[unit];
        if (entry.accesses == 0) return 0;
        const Ticks cost = update(cached_core, unit, entry, std::exchange(entry.accesses, 0));
        if (!forced) return host_.spend(Overhead::interrupt, cost);
        host_.charge(cached_core, Overhead::interrupt, cost);
        return 0;
    }
    std::vector<PageVector> take_pages() override {
        return told_.take([&](std::uint32_t unit) { return history_.numa_of(unit); });
    }

  private:
    // An entry of the TLB access table: AC, and the thread of the page's last access.
    struct Entry {
        std::uint32_t accesses, page;
        detect::Thread thread;
    };

    Zeroed<Entry>& entries_of(std::uint32_t cached_core) {
        if (cached_core >= entries_.size()) entries_.resize(cached_core + 1);
        if (!entries_[cached_core])
            entries_[cached_core] = std::make_unique<Zeroed<Entry>>(host_.memory.units().count());
        return *entries_[cached_core];
    }
    // Returns how long the operating system is at it, if it is notified. It moves the page when it
    // decides next, so it is notified once until then.
    Ticks update(std::uint32_t cached_core, std::uint32_t unit, const Entry& entry,
                 std::uint32_t accesses) {
        const std::uint32_t node = host_.memory.caches(cached_core).node;
        host_.change_entry(cached_core, host_.history_line(unit));  // AT, at least
        if (accesses >= history_.threshold(unit))
            for (const detect::Thread other : history_.sharers_of(unit))
                if (other != detect::no_thread)
                    host_.change_entry(cached_core, host_.matrix_line(entry.thread, other));
        if (!history_.update(unit, entry.thread, node, accesses, host_.sharing)) return 0;
        const bool notifies =
            history_.should_move(unit, host_.memory.node_of_page(entry.page), node) &&
            told_.tell(unit, entry.page);
        return notifies ? host_.machine.interrupt : 0;
    }

    std::uint32_t most_accesses_;
    detect::PageHistory history_;
    Told told_;
    std::vector<std::unique_ptr<Zeroed<Entry>>> entries_;  // by cached_core, of each unit
};

// LAPT. The counts of a TLB entry are written back to the page table when the entry leaves.
class PageTableSink final : public Sink {
  public:
    PageTableSink(SinkHost& host, const TlbAccessCounters& wanted)
        : Sink(host),
          sharers_(wanted.sharers),
          nodes_(host.machine.topology.nodes()),
          last_(std::size_t{host.memory.units().count()} * sharers_, detect::no_thread),
          numa_(std::size_t{host.memory.units().count()} * nodes_),
          page_(host.memory.units().count()),
          told_(host.memory.units().count()) {}

    // All but the first of consecutive accesses find their thread to be the latest, so they neither
    // shift nor count.
    Ticks accessed(const Actor& actor, std::uint32_t page, std::uint64_t count) override {
        if (actor.thread == detect::no_thread) return 0;
        const std::uint32_t unit = host_.memory.units().of(page);
        const std::span<detect::Thread> last(last_.data() + std::size_t{unit} * sharers_, sharers_);
        if (last.front() != actor.thread) {
            detect::count_with(last, actor.thread, host_.sharing);
            detect::enter(last, actor.thread);
        }
        std::uint32_t& counter = numa_[std::size_t{unit} * nodes_ + actor.node];
        counter = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(counter + count, std::numeric_limits<std::uint32_t>::max()));
        page_[unit] = page;
        told_.tell(unit, page);
        return 0;
    }
    Ticks evicted(std::uint32_t cached_core, std::uint32_t unit, bool) override {
        if (page_[unit] != 0)
            host_.change_entry(cached_core, host_.memory.units().entry(page_[unit]));
        return 0;
    }
    std::vector<PageVector> take_pages() override {
        return told_.take([&](std::uint32_t unit) {
            return std::span(numa_.data() + std::size_t{unit} * nodes_, nodes_);
        });
    }

  private:
    std::uint32_t sharers_, nodes_;
    std::vector<detect::Thread> last_;
    Zeroed<std::uint32_t> numa_;
    Zeroed<std::uint32_t> page_;  // of each unit, the latest
    Told told_;
};

}  // namespace

std::unique_ptr<Sink> make_sink(SinkHost& host, const TlbAccessCounters& wanted) {
    if (wanted.in_page_table) return std::make_unique<PageTableSink>(host, wanted);
    return std::make_unique<TlbCountersSink>(host, wanted);
}

}  // namespace autofinity::sim
