#include "topology/machine.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace autofinity::topology {

namespace {

void need(bool good, const char* otherwise) {
    if (!good) {
        throw std::invalid_argument(otherwise);
    }
}

bool among(int index, std::size_t count) {
    return index >= 0 && static_cast<std::size_t>(index) < count;
}

std::vector<std::int64_t> checked(std::vector<std::int64_t> slit, std::size_t nodes) {
    need(slit.size() == nodes * nodes, "the distances are not a square matrix over the nodes");
    return slit;
}

std::vector<Pu> checked(std::vector<Pu> pus, std::size_t nodes) {
    // There are no more parts with a PU than PUs.
    const std::size_t count = pus.size();
    for (const Pu& pu : pus) {
        need(among(pu.core, count) && among(pu.l2, count) && among(pu.llc, count) &&
                 among(pu.socket, count) && among(pu.node, nodes),
             "a PU has an index outside the machine");
    }
    return pus;
}

}  // namespace

Machine::Machine(std::vector<Pu> pus, std::vector<std::int64_t> slit, int nodes,
                 const std::vector<std::int64_t>& allowed)
    : nodes_(nodes),
      slit_(checked(std::move(slit), nodes_)),
      pus_(checked(std::move(pus), nodes_)),
      places_(pus_, slit_, nodes_),
      allowed_(pus_.size(), 0) {
    order_pus();
    number_parts();
    for (const std::int64_t os : allowed) {
        const int at = find(os);
        if (at >= 0) {
            allowed_[at] = 1;
        }
    }
}

void Machine::order_pus() {
    by_kind_.resize(pus_.size());
    std::iota(by_kind_.begin(), by_kind_.end(), 0);
    by_core_ = by_kind_;
    std::sort(by_kind_.begin(), by_kind_.end(), [&](int a, int b) {
        return std::pair(-pus_[a].kind, pus_[a].os) < std::pair(-pus_[b].kind, pus_[b].os);
    });
    std::sort(by_core_.begin(), by_core_.end(), [&](int a, int b) {
        return std::pair(pus_[a].core, pus_[a].smt_rank) <
               std::pair(pus_[b].core, pus_[b].smt_rank);
    });
    for (const int pu : by_kind_) {
        need(of_os_.emplace(pus_[pu].os, pu).second, "two PUs have the same OS index");
    }
}

void Machine::number_parts() {
    int cores = 0;
    int llcs = 0;
    int sockets = 0;
    for (const Pu& pu : pus_) {
        cores = std::max(cores, pu.core + 1);
        llcs = std::max(llcs, pu.llc + 1);
        sockets = std::max(sockets, pu.socket + 1);
    }
    sockets_ = sockets;
    socket_of_llc_.resize(llcs);
    std::vector<int> node_of_llc(llcs, -1);
    l2_of_core_.resize(cores);
    llc_of_core_.resize(cores);
    node_of_core_.resize(cores);
    for (std::size_t i = pus_.size(); i-- > 0;) {
        const Pu& pu = pus_[i];
        socket_of_llc_[pu.llc] = pu.socket;
        node_in_llc_ |= node_of_llc[pu.llc] >= 0 && node_of_llc[pu.llc] != pu.node;
        node_of_llc[pu.llc] = pu.node;
        l2_of_core_[pu.core] = pu.l2;
        llc_of_core_[pu.core] = pu.llc;
        node_of_core_[pu.core] = pu.node;
    }
    for (const Pu& pu : pus_) {
        core_of_pu_.push_back(pu.core);
    }
}

int Machine::find(std::int64_t os) const {
    const auto found = of_os_.find(os);
    return found == of_os_.end() ? -1 : found->second;
}

std::array<int, levels> Machine::path(int pu) const {
    const Pu& p = pus_[pu];
    if (node_in_llc_) {
        return {p.socket, p.llc, p.node, p.l2, p.core, pu};
    }
    return {p.socket, p.node, p.llc, p.l2, p.core, pu};
}

}  // namespace autofinity::topology
