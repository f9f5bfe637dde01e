// Python face of GETAFFINITY, of placing a class and of the edit distance. The Python side checks
// and words errors; here wrong input is only a plain exception.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "affinity/class_problem.hpp"
#include "affinity/edit_distance.hpp"
#include "affinity/hint_problem.hpp"
#include "affinity/level.hpp"
#include "affinity/search.hpp"
#include "topology/machine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace autofinity::affinity {

namespace {

using topology::Machine;

// PUs of `available` by logical index, without those that the machine lacks. None: the allowed PUs.
std::vector<uint8_t> mask_of(const Machine& machine, nb::handle available) {
    if (available.is_none()) {
        return machine.allowed();
    }
    std::vector<uint8_t> found(machine.pus().size(), 0);
    for (nb::handle os : nb::iter(available)) {
        const int at = machine.find(nb::cast<int64_t>(os));
        if (at >= 0) {
            found[at] = 1;
        }
    }
    return found;
}

nb::tuple tuple_of(const std::vector<int>& values) {
    nb::tuple made = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) {
        PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLong(values[i]));
    }
    return made;
}

nb::tuple tuple_of(const Occupancy& values) {
    nb::tuple made = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) {
        PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i),
                         tuple_of(values[i]).release().ptr());
    }
    return made;
}

// (OS indices in thread order, canonical occupancy, occupancy of the whole machine). `away`: the
// distance of each node from a device, if there is one.
nb::tuple answer(const Machine& machine, const Level& level, const std::vector<int>& chosen,
                 const std::vector<int64_t>& away = {}) {
    // Threads fill domain by domain, the nearest to the device first, and in a domain all lower SMT
    // levels before the last one, of each the faster kinds first.
    std::vector<std::tuple<int64_t, int, int, int, int>> order;
    const auto add = [&](int at) {
        const topology::Pu& pu = machine.pus()[at];
        order.emplace_back(away.empty() ? 0 : away[pu.node], pu.llc, pu.smt_rank, -pu.kind, at);
    };
    std::for_each(level.below.begin(), level.below.end(), add);
    std::for_each(chosen.begin(), chosen.end(), add);
    std::sort(order.begin(), order.end());
    nb::tuple cpus = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(order.size())));
    std::vector<int> counts(machine.socket_of_llc().size(), 0);
    for (size_t i = 0; i < order.size(); ++i) {
        const auto& [distance, domain, rank, kind, pu] = order[i];
        ++counts[domain];
        PyTuple_SET_ITEM(cpus.ptr(), static_cast<Py_ssize_t>(i),
                         PyLong_FromLongLong(machine.pus()[pu].os));
    }
    Occupancy whole(machine.sockets());
    for (size_t d = 0; d < counts.size(); ++d) {
        whole[machine.socket_of_llc()[d]].push_back(counts[d]);
    }
    std::vector<std::pair<int, std::vector<int>>> used;
    for (const auto& socket : whole) {
        std::vector<int> kept;
        int sum = 0;
        for (const int count : socket) {
            if (count > 0) {
                kept.push_back(count);
                sum += count;
            }
        }
        if (sum > 0) {
            std::sort(kept.rbegin(), kept.rend());
            used.emplace_back(sum, std::move(kept));
        }
    }
    std::sort(used.rbegin(), used.rend());
    Occupancy canonical;
    for (auto& [sum, counts_of_socket] : used) {
        canonical.push_back(std::move(counts_of_socket));
    }
    return nb::make_tuple(cpus, tuple_of(canonical), tuple_of(whole));
}

int threads_of(const Occupancy& occupancy) {
    int threads = 0;
    for (const auto& socket : occupancy) {
        for (const int count : socket) {
            threads += count;
        }
    }
    return threads;
}

// The answer, or the number of available PUs where they are fewer than the threads.
nb::object best_match(const Machine& machine, int threads, bool spread_sockets, bool spread_llcs,
                      bool socket_first, nb::handle available) {
    // The first wish: to spread over cores, or to leave caches empty.
    const bool spread = socket_first ? spread_sockets : spread_llcs;
    const Level level =
        make_level(machine, mask_of(machine, available), threads, Kinds::fastest_first,
                   spread ? Siblings::last : Siblings::together);
    if (level.threads == 0) {
        return nb::int_(level.usable);
    }
    HintProblem problem(level, {spread_sockets, spread_llcs, socket_first});
    return answer(machine, level, nearest_set(machine, level, problem));
}

// A core set of the class of a hint's best match, near a device: `away` is the distance of each
// node from it. `together`: siblings may be used while cores are idle, as by hints that pack.
nb::object place_near(const Machine& machine, const Occupancy& occupancy, bool together,
                      const std::vector<int64_t>& away, nb::handle available) {
    const Level level =
        make_level(machine, mask_of(machine, available), threads_of(occupancy),
                   Kinds::fastest_first, together ? Siblings::together : Siblings::last);
    if (level.threads == 0 || away.size() != machine.nodes()) {
        return nb::none();
    }
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const int node : level.nodes) {
        least = std::min(least, away[node]);
    }
    std::vector<uint8_t> first(machine.nodes(), 0);
    for (const int node : level.nodes) {
        first[node] = away[node] == least ? 1 : 0;
    }
    ClassProblem problem(level, occupancy);
    const std::vector<int> chosen = nearest_set(machine, level, problem, first);
    if (chosen.empty()) {
        return nb::none();
    }
    return answer(machine, level, chosen, away);
}

// As `best_match`; None where the class does not fit.
nb::object place(const Machine& machine, const Occupancy& occupancy, nb::handle available) {
    const int threads = threads_of(occupancy);
    // As for a hint that spreads, where the class has a thread on every core.
    for (const Siblings siblings : {Siblings::last, Siblings::together}) {
        const Level level =
            make_level(machine, mask_of(machine, available), threads, Kinds::alike, siblings);
        if (level.threads == 0) {
            return nb::int_(level.usable);
        }
        ClassProblem problem(level, occupancy);
        const std::vector<int> chosen = nearest_set(machine, level, problem);
        if (!chosen.empty()) {
            return answer(machine, level, chosen);
        }
    }
    return nb::none();
}

}  // namespace

}  // namespace autofinity::affinity

void bind_affinity(nb::module_& module) {
    using namespace autofinity::affinity;
    module.def("best_match", &best_match, "machine"_a, "threads"_a, "spread_sockets"_a,
               "spread_llcs"_a, "socket_first"_a, "available"_a.none() = nb::none(),
               "GETAFFINITY: (cpus, canonical occupancy, machine occupancy), or the number of PUs "
               "available where it is less than `threads`.");
    module.def("place", &place, "machine"_a, "occupancy"_a, "available"_a.none() = nb::none(),
               "A core set of the class: as `best_match`; None where the class does not fit.");
    module.def("place_near", &place_near, "machine"_a, "occupancy"_a, "together"_a, "away"_a,
               "available"_a.none() = nb::none(),
               "A core set of the class near a device: as `best_match`; None where the class does "
               "not fit.");
    module.def("edit_distance", &edit_distance, "a"_a, "b"_a,
               "Threads to move until `a` is isomorphic to `b`.");
}
