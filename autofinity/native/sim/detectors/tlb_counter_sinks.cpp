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
    void tell(std::uint32_t unit, std::uint32_t page) {
        if (told_[unit] != 0) return;
        told_[unit] = 1;
        pages_.push_back({unit, page});
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

class TlbCountersSink final : public Sink {
  public:
    TlbCountersSink(SinkHost& host, const TlbAccessCounters& wanted)
        : Sink(host),
          most_accesses_(wanted.most_accesses),
          update_(host.ticks(wanted.update_ns)),
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
            cost += update(actor.node, unit, entry, most_accesses_);
        entry.accesses = static_cast<std::uint32_t>(count);
        return cost;
    }
    // Shootdowns by other cores are charged to these cores.
    Ticks evicted(std::uint32_t cached_core, std::uint32_t unit, bool forced) override {
        Entry& entry = entries_of(cached_core)[unit];
        if (entry.accesses == 0) return 0;
        const std::uint32_t accesses = std::exchange(entry.accesses, 0);
        const Ticks cost = update(host_.memory.caches(cached_core).node, unit, entry, accesses);
        return forced ? 0 : cost;
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
    Ticks update(std::uint32_t node, std::uint32_t unit, const Entry& entry,
                 std::uint32_t accesses) {
        if (!history_.update(unit, entry.thread, node, accesses, host_.sharing)) return 0;
        if (history_.should_move(unit, host_.memory.node_of_page(entry.page), node))
            told_.tell(unit, entry.page);
        return host_.spend(Overhead::update, update_);
    }

    std::uint32_t most_accesses_;
    Ticks update_;
    detect::PageHistory history_;
    Told told_;
    std::vector<std::unique_ptr<Zeroed<Entry>>> entries_;  // by cached_core, of each unit
};

class PageTableSink final : public Sink {
  public:
    PageTableSink(SinkHost& host, const TlbAccessCounters& wanted)
        : Sink(host),
          sharers_(wanted.sharers),
          nodes_(host.machine.topology.nodes()),
          update_(host.ticks(wanted.update_ns)),
          last_(std::size_t{host.memory.units().count()} * sharers_, detect::no_thread),
          numa_(std::size_t{host.memory.units().count()} * nodes_),
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
        told_.tell(unit, page);
        return update_ == 0 ? 0 : host_.spend(Overhead::update, update_ * count);
    }
    std::vector<PageVector> take_pages() override {
        return told_.take([&](std::uint32_t unit) {
            return std::span(numa_.data() + std::size_t{unit} * nodes_, nodes_);
        });
    }

  private:
    std::uint32_t sharers_, nodes_;
    Ticks update_;
    std::vector<detect::Thread> last_;
    Zeroed<std::uint32_t> numa_;
    Told told_;
};

}  // namespace

std::unique_ptr<Sink> make_sink(SinkHost& host, const TlbAccessCounters& wanted) {
    if (wanted.in_page_table) return std::make_unique<PageTableSink>(host, wanted);
    return std::make_unique<TlbCountersSink>(host, wanted);
}

}  // namespace autofinity::sim
