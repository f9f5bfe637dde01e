// Detectors that get addresses from the PMU: of accesses that other caches resolved (Azimi), of
// every n-th access (Carrefour), of loads that took long (Marathe & Mueller).
#include <bit>

#include "detect/block_table.hpp"
#include "sinks.hpp"

namespace autofinity::sim {
namespace {

// Every `period`-th event of each core.
class Every {
  public:
    Every(std::uint64_t period, std::uint32_t cores) : period_(period), left_(cores, period) {}

    // Number of samples in `count` events.
    std::uint64_t take(std::uint32_t cached_core, std::uint64_t count) {
        std::uint64_t& left = left_[cached_core];
        if (count < left) {
            left -= count;
            return 0;
        }
        const std::uint64_t over = count - left;
        left = period_ - over % period_;
        return 1 + over / period_;
    }

  private:
    std::uint64_t period_;
    std::vector<std::uint64_t> left_;
};

class RemoteAccessesSink final : public Sink {
  public:
    RemoteAccessesSink(SinkHost& host, const RemoteAccesses& wanted)
        : Sink(host),
          every_(wanted.period, host.memory.most_cached_cores()),
          sample_(host.ticks(wanted.sample_ns)),
          block_shift_(std::countr_zero(wanted.block_bytes / line_bytes)),
          blocks_(wanted.entries, wanted.sharers) {}

    Ticks served(const Actor& actor, const Step& step, const Served& served, Ticks) override {
        constexpr std::uint8_t from_own_llc = 1;
        if (served.supplied <= from_own_llc || actor.thread == detect::no_thread ||
            every_.take(actor.cached_core, 1) == 0)
            return 0;
        blocks_.touch(step.line() >> block_shift_, actor.thread, host_.sharing);
        return host_.spend(Overhead::sample, sample_);
    }

  private:
    Every every_;
    Ticks sample_;
    int block_shift_;
    detect::BlockTable blocks_;
};

class AccessSamplingSink final : public Sink {
  public:
    AccessSamplingSink(SinkHost& host, const AccessSampling& wanted)
        : Sink(host),
          long_loads_(wanted.long_loads),
          every_(wanted.period, host.memory.most_cached_cores()),
          least_(host.ticks(wanted.least_latency_ns)),
          sample_(host.ticks(wanted.sample_ns)),
          numa_(host.machine.topology.nodes(), std::numeric_limits<std::uint32_t>::max(),
                wanted.pages) {}

    Ticks accessed(const Actor& actor, std::uint32_t page, std::uint64_t count) override {
        return long_loads_ ? 0 : sample(actor, page, every_.take(actor.cached_core, count));
    }
    Ticks served(const Actor& actor, const Step& step, const Served&, Ticks latency) override {
        if (!long_loads_ || step.reads() == 0 || latency < least_) return 0;
        return sample(actor, step.line() >> page_shift, every_.take(actor.cached_core, 1));
    }
    std::vector<PageVector> take_pages() override { return vectors_of(numa_); }

  private:
    Ticks sample(const Actor& actor, std::uint32_t page, std::uint64_t samples) {
        for (std::uint64_t i = 0; i < samples; ++i) numa_.count(host_.first_of(page), actor.node);
        return host_.spend(Overhead::sample, sample_ * samples);
    }

    bool long_loads_;
    Every every_;
    Ticks least_, sample_;
    detect::NumaTable numa_;
};

}  // namespace

std::unique_ptr<Sink> make_sink(SinkHost& host, const RemoteAccesses& wanted) {
    return std::make_unique<RemoteAccessesSink>(host, wanted);
}

std::unique_ptr<Sink> make_sink(SinkHost& host, const AccessSampling& wanted) {
    return std::make_unique<AccessSamplingSink>(host, wanted);
}

}  // namespace autofinity::sim
