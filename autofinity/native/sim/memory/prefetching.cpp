#include "prefetching.hpp"

namespace autofinity::sim {

// Only fetches lines that no cache has: other lines are near already, or another core works with
// them.
void Prefetching::into_llc(PrivateCaches& c, Line line, Ticks now, UnderWay& w) {
    DirectoryLine& d = hierarchy_.directory[line];
    if (d.llcs != 0 || !hierarchy_.directory.in_no_core(line, d)) return;
    Counts& n = *w.counts;
    const std::uint32_t home = hierarchy_.pages.home(line);
    ++n[prefetches_issued];
    ++n[llc_requests];
    ++n[llc_read_requests];
    ++n[llc_misses];
    const std::uint32_t llc = hierarchy_.llc_for<MachineKind::any>(c.llc, line);
    ++hierarchy_.llcs.requests(llc).reads;
    if (hierarchy_.filters.present()) hierarchy_.into_filter(line, false, w);
    hierarchy_.interconnect.signal(c.node, home, n);
    const Ticks ready = hierarchy_.interconnect.from_dram(home, c.llc, c.node, now, n);
    hierarchy_.arriving.keep(line, ready);
    c.prefetcher.sent(line, ready);
    d.forwarder_plus_one = static_cast<std::uint8_t>(c.llc + 1);
    hierarchy_.into_llc<MachineKind::any>(llc, line, w);
}

}  // namespace autofinity::sim
