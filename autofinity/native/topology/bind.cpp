// Python face of the machine. The Python side checks and words errors; here wrong input is only a
// plain exception.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "topology/machine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace autofinity::topology {

namespace {

// A PU as Python passes it, in the order of the fields of `Pu`.
using Row = std::tuple<std::int64_t, int, int, int, int, int, int, int>;

// The machine and the values it was made of, for pickle.
nb::tuple reduced(const Machine& machine) {
    std::vector<Row> rows;
    std::vector<std::int64_t> allowed;
    for (std::size_t i = 0; i < machine.pus().size(); ++i) {
        const Pu& pu = machine.pus()[i];
        rows.emplace_back(pu.os, pu.smt_rank, pu.core, pu.l2, pu.llc, pu.socket, pu.node, pu.kind);
        if (machine.allowed()[i]) {
            allowed.push_back(pu.os);
        }
    }
    return nb::make_tuple(nb::type<Machine>(),
                          nb::make_tuple(rows, machine.slit(), machine.nodes(), allowed));
}

int logical(const Machine& machine, std::int64_t os) {
    const int found = machine.find(os);
    if (found < 0) {
        throw std::invalid_argument("unknown CPU");
    }
    return found;
}

}  // namespace

}  // namespace autofinity::topology

void bind_topology(nb::module_& module) {
    using namespace autofinity::topology;
    nb::class_<Machine>(
        module, "Machine",
        "The PUs of a machine: a row (OS index, SMT rank, core, L2, LLC domain, "
        "socket, node, kind of core) each, the SLIT row by row, and the OS indices of PUs that a "
        "placement may use.")
        .def(
            "__init__",
            [](Machine* self, const std::vector<Row>& rows, std::vector<std::int64_t> slit,
               int nodes, const std::vector<std::int64_t>& allowed) {
                std::vector<Pu> pus;
                for (const auto& [os, smt_rank, core, l2, llc, socket, node, kind] : rows) {
                    pus.push_back({os, smt_rank, core, l2, llc, socket, node, kind});
                }
                new (self) Machine(std::move(pus), std::move(slit), nodes, allowed);
            },
            "pus"_a, "slit"_a, "nodes"_a, "allowed"_a)
        .def(
            "distance",
            [](const Machine& machine, std::int64_t a, std::int64_t b) {
                return machine.distance(logical(machine, a), logical(machine, b));
            },
            "a"_a, "b"_a, "Distance of two PUs, in SLIT's unit.")
        .def(
            "path",
            [](const Machine& machine, std::int64_t cpu) {
                return std::tuple_cat(machine.path(logical(machine, cpu)));
            },
            "cpu"_a, "The part of each level that a PU lies in, outermost first.")
        .def("__reduce__", &reduced);
}
