#include "coherence.hpp"

namespace autofinity::sim {

Ticks Coherence::upgrade(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended,
                         UnderWay& w) {
    if (c.shares_l2) [[unlikely]] {
        L2Domain& domain = cores_.domain(c.domain);
        const Word held = domain.state(line);
        if (held != shared && held != owned) return domain.upgrade(c, line, now, contended, w);
        contended |= domain.take_from_siblings(c, line, w);
    }
    return directory_.more_words() == 0 ? upgrade_line<false>(c, line, atomic, now, contended, w)
                                        : upgrade_line<true>(c, line, atomic, now, contended, w);
}

template <bool many>
Ticks Coherence::upgrade_line(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended,
                              UnderWay& w) {
    Counts& n = *w.counts;
    DirectoryLine& d = directory_[line];
    ++n[upgrades];
    ++n[llc_requests];
    ++n[llc_modify_requests];
    ++llcs_.requests(c.llc).modifies;
    if (filters_.present()) fills_.into_filter(line, true, w);
    const Ticks start = busy_.wait(line, now);
    const SharersOf<many> have = directory_.sharers<many>(line, d);
    const bool others = have.any_but(c.domain);
    const std::uint32_t home = pages_.home(line);
    interconnect_.signal(c.node, home, n);
    Ticks ready = start;
    if (others || (d.llcs & ~(1u << c.llc)) != 0) {
        const std::uint32_t away = farthest(c.llc, have, d.llcs);
        ready += (atomic ? machine_.atomic_shared : machine_.store_shared)[away];
    } else {
        // Nobody to tell but the home node.
        ready +=
            machine_
                .store_modified[machine_.node_distance[c.node * machine_.topology.nodes() + home]];
    }
    contended |= others;
    take_from_others<many>(c, line, d, w);
    cores_.domain(c.domain).set_state(line, modified);
    if (others) busy_.keep(line, ready);
    return ready;
}

}  // namespace autofinity::sim
