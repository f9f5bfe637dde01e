// Python face of GETAFFINITY, of placing a class and of the edit distance. The Python side checks
// and words errors; here wrong input is only a plain exception.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "affinity/class_problem.hpp"
#include "affinity/edit_distance.hpp"
#include "affinity/hint_problem.hpp"
#include "affinity/machine.hpp"
#include "affinity/search.hpp"
#include "core/pu_columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace autofinity::affinity {

namespace {

// A machine with its default set of available PUs. Keeps the columns it was made of, to be pickled.
class Handle {
  public:
    Handle(PuColumns pus, std::vector<int64_t> distances, int nodes, std::vector<int64_t> allowed)
        : columns(std::move(pus)),
          slit(std::move(distances)),
          default_os(std::move(allowed)),
          machine(pus_of<Pu>(columns), slit, nodes),
          default_mask(machine.pus().size(), 0) {
        for (const int64_t os : default_os) {
            const int at = machine.find(os);
            if (at >= 0) {
                default_mask[at] = 1;
            }
        }
    }

    // PUs of `available` by logical index; what the machine does not have is not counted.
    std::vector<uint8_t> mask(nb::handle available) const {
        if (available.is_none()) {
            return default_mask;
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

    PuColumns columns;
    std::vector<int64_t> slit;
    std::vector<int64_t> default_os;
    Machine machine;
    std::vector<uint8_t> default_mask;
};

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

// (OS indices in thread order, canonical occupancy, occupancy of the whole machine).
nb::tuple answer(const Machine& machine, const Level& level, std::vector<int> chosen) {
    // Threads fill domain by domain, and in a domain all lower SMT levels before the last one.
    std::vector<std::tuple<int, int, int>> order;
    for (const int pu : level.below) {
        order.emplace_back(machine.pus()[pu].domain, machine.pus()[pu].smt_rank, pu);
    }
    for (const int pu : chosen) {
        order.emplace_back(machine.pus()[pu].domain, machine.pus()[pu].smt_rank, pu);
    }
    std::sort(order.begin(), order.end());
    nb::tuple cpus = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(order.size())));
    std::vector<int> counts(machine.socket_of_domain().size(), 0);
    for (size_t i = 0; i < order.size(); ++i) {
        const auto& [domain, rank, pu] = order[i];
        ++counts[domain];
        PyTuple_SET_ITEM(cpus.ptr(), static_cast<Py_ssize_t>(i),
                         PyLong_FromLongLong(machine.pus()[pu].os));
    }
    Occupancy whole(machine.sockets());
    for (size_t d = 0; d < counts.size(); ++d) {
        whole[machine.socket_of_domain()[d]].push_back(counts[d]);
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

// The answer, or the number of available PUs where there are fewer than threads.
nb::object best_match(const Handle& handle, int threads, bool spread_sockets, bool spread_llcs,
                      bool socket_first, nb::handle available) {
    const Level level = make_level(handle.machine, handle.mask(available), threads);
    if (level.threads == 0) {
        return nb::int_(level.usable);
    }
    HintProblem problem(level, {spread_sockets, spread_llcs, socket_first});
    Search search(handle.machine, level, problem);
    return answer(handle.machine, level, search.run());
}

// As `best_match`; None where the class does not fit.
nb::object place(const Handle& handle, const Occupancy& occupancy, nb::handle available) {
    int threads = 0;
    for (const auto& socket : occupancy) {
        for (const int count : socket) {
            threads += count;
        }
    }
    const Level level = make_level(handle.machine, handle.mask(available), threads);
    if (level.threads == 0) {
        return nb::int_(level.usable);
    }
    ClassProblem problem(level, occupancy);
    Search search(handle.machine, level, problem);
    std::vector<int> chosen = search.run();
    if (chosen.empty()) {
        return nb::none();
    }
    return answer(handle.machine, level, std::move(chosen));
}

}  // namespace

}  // namespace autofinity::affinity

void bind_affinity(nb::module_& module) {
    using autofinity::PuColumns;
    using namespace autofinity::affinity;
    nb::class_<Handle>(module, "Machine",
                       "A topology as the native search sees it: columns os, core, domain, socket, "
                       "node, smt_rank of the PUs, the SLIT row by row, and the PUs allowed.")
        .def(nb::init<PuColumns, std::vector<int64_t>, int, std::vector<int64_t>>(), "pus"_a,
             "distances"_a, "nodes"_a, "allowed"_a)
        .def("best_match", &best_match, "threads"_a, "spread_sockets"_a, "spread_llcs"_a,
             "socket_first"_a, "available"_a.none() = nb::none(),
             "GETAFFINITY: (cpus, canonical occupancy, machine occupancy), or the number of PUs "
             "available where it is less than `threads`.")
        .def("place", &place, "occupancy"_a, "available"_a.none() = nb::none(),
             "A core set of the class: as `best_match`; None where the class does not fit.")
        .def("__getstate__",
             [](const Handle& handle) {
                 return std::make_tuple(handle.columns, handle.slit, handle.machine.nodes(),
                                        handle.default_os);
             })
        .def("__setstate__",
             [](Handle& handle, const std::tuple<PuColumns, std::vector<int64_t>, int,
                                                 std::vector<int64_t>>& state) {
                 new (&handle) Handle(std::get<0>(state), std::get<1>(state), std::get<2>(state),
                                      std::get<3>(state));
             });
    module.def("edit_distance", &edit_distance, "a"_a, "b"_a,
               "Threads to move until `a` is isomorphic to `b`.");
}
