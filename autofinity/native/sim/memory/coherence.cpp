#include "coherence.hpp"

namespace autofinity::sim {

Ticks Coherence::upgrade(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended,
                         UnderWay& w) {
    if (c.shares_l2) [[unlikely]] {
        L2Domain& domain = hierarchy_.cores.domain(c.domain);
        const Word held = domain.state(line);
        if (held != shared && held != owned) return domain.upgrade(c, line, now, contended, w);
        domain.take_from_siblings(c, line, w);
    }
    return hierarchy_.directory.more_words() == 0
               ? upgrade_line<false>(c, line, atomic, now, contended, w)
               : upgrade_line<true>(c, line, atomic, now, contended, w);
}

template <bool many>
Ticks Coherence::upgrade_line(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended,
                              UnderWay& w) {
    Counts& n = *w.counts;
    DirectoryLine& d = hierarchy_.directory[line];
    ++n[upgrades];
    ++n[llc_requests];
    ++n[llc_modify_requests];
    const std::uint32_t llc = hierarchy_.llc_for<MachineKind::any>(c.llc, line);
    ++hierarchy_.llcs.requests(llc).modifies;
    if (hierarchy_.filters.present()) hierarchy_.into_filter(line, true, w);
    const Ticks start = hierarchy_.busy.wait(line, now);
    const SharersOf<many> have = hierarchy_.directory.sharers<many>(line, d);
    const bool others = have.any_but(c.domain);
    const std::uint32_t home = hierarchy_.pages.home(line);
    hierarchy_.interconnect.signal(c.node, home, n);
    Ticks ready = start;
    if (others || (d.llcs & ~(1u << llc)) != 0) {
        const std::uint32_t away = farthest(c.llc, have, d.llcs);
        ready +=
            (atomic ? hierarchy_.machine.atomic_shared : hierarchy_.machine.store_shared)[away];
    } else {
        // Only the home node has to know.
        ready += hierarchy_.machine
                     .store_modified[hierarchy_.machine.node_distance
                                         [c.node * hierarchy_.machine.topology.nodes() + home]];
    }
    contended |= start != now;
    take_from_others<many>(c, line, d, w);
    hierarchy_.cores.domain(c.domain).set_state(line, modified);
    if (others) hierarchy_.busy.keep(line, ready);
    return ready;
}

bool Coherence::leave_in_llc(const PrivateCaches& c, Line line, bool written, UnderWay& w) {
    Hierarchy& h = hierarchy_;
    DirectoryLine& d = h.directory[line];
    const std::uint32_t llc = h.llc_for<MachineKind::any>(c.llc, line);
    const std::uint32_t others = d.llcs & ~(1u << llc);
    const bool in_cores = !h.directory.in_no_core(line, d);
    if (d.owner_plus_one != 0 || (written && (in_cores || others != 0))) return false;
    if (in_cores && h.directory.holds<MachineKind::any>(c.domain, line)) return false;
    const bool held = in_cores || d.llcs != 0;
    if (h.filters.present()) h.into_filter(line, held, w);
    if (!held || nearest<true>(c.llc, h.directory.sharers(line), d.llcs, c.llc).llc == nowhere)
        d.forwarder_plus_one = static_cast<std::uint8_t>(c.llc + 1);
    // Memory has a dirty line when an LLC gets it that does not share it unwritten.
    if (const std::uint32_t dirty = d.dirty_llc_plus_one;
        !h.machine.owned_state && dirty != 0 && dirty != llc + 1 &&
        (h.machine.llc_inclusive || !in_one_socket(h.interconnect.distance(c.llc, dirty - 1))))
        d.dirty_llc_plus_one = 0;
    h.into_llc<MachineKind::any>(llc, line, w);
    if (written) d.dirty_llc_plus_one = static_cast<std::uint8_t>(llc + 1);
    return true;
}

}  // namespace autofinity::sim
