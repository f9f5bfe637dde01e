#include "prefetching.hpp"

namespace autofinity::sim {

// Only lines that no cache has: the others are near already, or somebody works with them.
void Prefetching::into_llc(PrivateCaches& c, Line line, Ticks now, UnderWay& w) {
    DirectoryLine& d = directory_[line];
    if (d.llcs != 0 || !directory_.in_no_core(line, d)) return;
    Counts& n = *w.counts;
    const std::uint32_t home = pages_.home(line);
    ++n[prefetches_issued];
    ++n[llc_requests];
    ++n[llc_read_requests];
    ++n[llc_misses];
    ++llcs_.requests(c.llc).reads;
    if (filters_.present()) fills_.into_filter(line, false, w);
    interconnect_.signal(c.node, home, n);
    c.prefetcher.sent(line, interconnect_.from_dram(home, c.llc, c.node, now, n));
    fills_.into_llc<MachineKind::any>(c.llc, line, w);
}

}  // namespace autofinity::sim
