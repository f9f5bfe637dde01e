// Detectors that induce page faults: sampling of threads and nodes, and hinting faults.
#include <algorithm>
#include <bit>
#include <variant>

#include "detect/block_table.hpp"
#include "detect/sub_block_table.hpp"
#include "sinks.hpp"

namespace autofinity::sim {
namespace {

// Visits the pages that the program has touched, round after round.
class Rounds {
  public:
    explicit Rounds(SinkHost& host) : host_(host) {}

    // Clears the present bits of the next pages that have them set, each page at most once.
    void clear(std::size_t pages) {
        const auto& touched = host_.touched();
        std::vector<std::uint32_t> cleared;
        for (std::size_t looked_at = 0; looked_at < touched.size() && cleared.size() < pages;
             ++looked_at) {
            at_ = at_ + 1 < touched.size() ? at_ + 1 : 0;
            if (!host_.armed(touched[at_])) cleared.push_back(touched[at_]);
        }
        if (!cleared.empty()) host_.arm(cleared);
    }

  private:
    SinkHost& host_;
    std::size_t at_ = 0;
};

class FaultSamplingSink final : public Sink {
  public:
    FaultSamplingSink(SinkHost& host, const FaultSampling& wanted)
        : Sink(host),
          wanted_(wanted),
          round_(std::max<Ticks>(1, host.ticks(wanted.round_ns))),
          fault_(host.ticks(wanted.fault_ns)),
          update_(host.ticks(wanted.update_ns)),
          block_shift_(std::countr_zero(wanted.block_bytes / line_bytes)),
          rounds_(host),
          numa_(host.machine.topology.nodes(), wanted.most_counted),
          next_(round_) {
        if (wanted.table == FaultSampling::Table::blocks)
            table_.emplace<detect::BlockTable>(wanted.entries, wanted.sharers);
        else if (wanted.table == FaultSampling::Table::sub_blocks)
            table_.emplace<detect::SubBlockTable>(wanted.sharers);
    }

    Ticks faulted(const Actor& actor, std::uint32_t page, Line line, bool induced) override {
        numa_.count(host_.first_of(page), actor.node);
        const std::uint64_t block = line >> block_shift_;
        if (actor.thread != detect::no_thread) {
            if (auto* blocks = std::get_if<detect::BlockTable>(&table_))
                blocks->touch(block, actor.thread, host_.sharing);
            else if (auto* sub_blocks = std::get_if<detect::SubBlockTable>(&table_))
                sub_blocks->touch(block, actor.thread, host_.sharing);
        }
        return host_.spend(Overhead::update, update_) +
               (induced ? host_.spend(Overhead::fault, fault_) : 0);
    }
    void moved(std::uint32_t page) override {
        if (wanted_.halve_on_move) numa_.halve(host_.first_of(page));
    }
    Ticks next() const override { return next_; }
    void act(Ticks now) override {
        next_ = now + round_;
        owed_ += wanted_.share_per_s * wanted_.round_ns * 1e-9 *
                 static_cast<double>(host_.touched().size());
        owed_ = std::min(owed_, static_cast<double>(host_.touched().size()));
        const auto pages = static_cast<std::size_t>(owed_);
        owed_ -= static_cast<double>(pages);
        rounds_.clear(pages);
    }
    std::vector<PageVector> take_pages() override { return vectors_of(numa_); }

  private:
    FaultSampling wanted_;
    Ticks round_, fault_, update_;
    int block_shift_;
    Rounds rounds_;
    std::variant<std::monostate, detect::BlockTable, detect::SubBlockTable> table_;
    detect::NumaTable numa_;
    Ticks next_;
    double owed_ = 0;  // pages, since a round may clear less than one
};

class HintingFaultsSink final : public Sink {
  public:
    HintingFaultsSink(SinkHost& host, const HintingFaults& wanted)
        : Sink(host),
          period_(std::max<Ticks>(1, host.ticks(wanted.scan_period_ns))),
          fault_(host.ticks(wanted.fault_ns)),
          pages_(std::max<std::uint64_t>(1, wanted.scan_bytes / host.machine.page_bytes)),
          rounds_(host),
          numa_(host.machine.topology.nodes(), std::numeric_limits<std::uint32_t>::max()),
          next_(period_) {}

    Ticks faulted(const Actor& actor, std::uint32_t page, Line, bool induced) override {
        if (!induced) return 0;
        numa_.count(host_.first_of(page), actor.node);
        return host_.spend(Overhead::fault, fault_);
    }
    Ticks next() const override { return next_; }
    void act(Ticks now) override {
        next_ = now + period_;
        rounds_.clear(pages_);
    }
    // This sink keeps no history.
    std::vector<PageVector> take_pages() override {
        std::vector<PageVector> found = vectors_of(numa_);
        numa_.forget();
        return found;
    }

  private:
    Ticks period_, fault_;
    std::uint64_t pages_;
    Rounds rounds_;
    detect::NumaTable numa_;
    Ticks next_;
};

}  // namespace

std::unique_ptr<Sink> make_sink(SinkHost& host, const FaultSampling& wanted) {
    return std::make_unique<FaultSamplingSink>(host, wanted);
}

std::unique_ptr<Sink> make_sink(SinkHost& host, const HintingFaults& wanted) {
    return std::make_unique<HintingFaultsSink>(host, wanted);
}

}  // namespace autofinity::sim
