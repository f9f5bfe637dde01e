// Python face of the mappers. The Python side checks and words errors; here wrong input is only a
// plain exception.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "core/pu_columns.hpp"
#include "mapping/bisection.hpp"
#include "mapping/cost.hpp"
#include "mapping/eager.hpp"
#include "mapping/exact.hpp"
#include "mapping/grouping.hpp"
#include "mapping/machine.hpp"
#include "mapping/matrix.hpp"
#include "mapping/refinement.hpp"
#include "mapping/seat_tree.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace autofinity::mapping {

namespace {

// Sums of more, times distances, would not be finite.
constexpr double most_sharing = 1e250;

// A number of Python's, from 0 to `most_sharing`.
double amount_of(PyObject* number) {
    const double amount =
        PyFloat_CheckExact(number) ? PyFloat_AS_DOUBLE(number) : PyFloat_AsDouble(number);
    if (amount >= 0 && amount <= most_sharing) {
        return amount;
    }
    if (amount == -1.0 && PyErr_Occurred()) {
        throw nb::python_error();
    }
    throw std::invalid_argument("sharing is a number from 0 to 1e250");
}

// Fast sequences of `size` numbers each, one a row.
std::vector<nb::object> rows_of(nb::handle outer, Py_ssize_t size) {
    std::vector<nb::object> rows;
    for (Py_ssize_t i = 0; i < size; ++i) {
        rows.push_back(nb::steal(PySequence_Fast(PySequence_Fast_GET_ITEM(outer.ptr(), i),
                                                 "expected a row of numbers")));
        if (!rows.back().is_valid()) {
            throw nb::python_error();
        }
        if (PySequence_Fast_GET_SIZE(rows.back().ptr()) != size) {
            throw std::invalid_argument("a sharing matrix has as many columns as rows");
        }
    }
    return rows;
}

// Rows of numbers. Throws where they are no sharing matrix: not square, a diagonal, not symmetric,
// negative, too large.
Matrix matrix_of(nb::handle rows) {
    const nb::object outer = nb::steal(PySequence_Fast(rows.ptr(), "expected rows of numbers"));
    if (!outer.is_valid()) {
        throw nb::python_error();
    }
    const int size = static_cast<int>(PySequence_Fast_GET_SIZE(outer.ptr()));
    const std::vector<nb::object> row_of = rows_of(outer, size);
    Matrix made(size);
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
            made.row(i)[j] = amount_of(PySequence_Fast_GET_ITEM(row_of[i].ptr(), j));
        }
    }
    if (!made.is_symmetric() || !made.has_zero_diagonal()) {
        throw std::invalid_argument("a sharing matrix is symmetric, with a zero diagonal");
    }
    return made;
}

// A machine, and how mappings on it are made and judged.
class Handle {
  public:
    Handle(const PuColumns& pus, const std::vector<double>& slit, int nodes)
        : machine(pus_of<Pu>(pus), slit, nodes) {}

    double distance(int64_t a, int64_t b) const { return machine.distance(logical(a), logical(b)); }

    nb::tuple path(int64_t cpu) const {
        const auto parts = machine.path(logical(cpu));
        nb::list found;
        for (const int part : parts) {
            found.append(part);
        }
        return nb::tuple(found);
    }

    double cost(nb::handle sharing, const std::vector<int64_t>& cpus) const {
        return cost_of(machine, checked(sharing, cpus), logical(cpus));
    }

    nb::tuple eager(nb::handle sharing, const std::vector<int64_t>& seats) const {
        Eager grouper;
        return grouped(checked(sharing, seats), seats, grouper);
    }

    nb::tuple bisection(nb::handle sharing, const std::vector<int64_t>& seats) const {
        return os_of(map_by_bisection(checked(sharing, seats), SeatTree(machine, logical(seats))));
    }

    // `group(weights, shapes, groups, needs)` in Python makes the groups of a level, of elements
    // numbered from 0.
    nb::tuple by_groups(nb::handle sharing, const std::vector<int64_t>& seats,
                        const nb::callable& group) const;

    nb::tuple refine(nb::handle sharing, const std::vector<int64_t>& seats) const {
        return os_of(refined(machine, checked(sharing, seats), SeatTree(machine, logical(seats))));
    }

    nb::object exact(nb::handle sharing, const std::vector<int64_t>& cpus,
                     int64_t most_steps) const {
        const std::vector<int> pus = logical(cpus);
        const auto found =
            cheapest(machine, checked(sharing, cpus), SeatTree(machine, pus), pus, most_steps);
        return found ? nb::object(os_of(*found)) : nb::none();
    }

    Matrix checked(nb::handle sharing, const std::vector<int64_t>& cpus) const {
        Matrix matrix = matrix_of(sharing);
        if (cpus.empty() || static_cast<size_t>(matrix.size()) != cpus.size()) {
            throw std::invalid_argument("expected one CPU a thread");
        }
        return matrix;
    }

    std::vector<int> logical(const std::vector<int64_t>& cpus) const {
        std::vector<int> found;
        for (const int64_t os : cpus) {
            found.push_back(logical(os));
        }
        return found;
    }

    nb::tuple os_of(const std::vector<int>& pu_of_thread) const {
        nb::tuple made =
            nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(pu_of_thread.size())));
        for (size_t i = 0; i < pu_of_thread.size(); ++i) {
            PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i),
                             PyLong_FromLongLong(machine.pus()[pu_of_thread[i]].os));
        }
        return made;
    }

    Machine machine;

  private:
    int logical(int64_t os) const {
        const int found = machine.find(os);
        if (found < 0) {
            throw std::invalid_argument("unknown CPU");
        }
        return found;
    }

    nb::tuple grouped(const Matrix& sharing, const std::vector<int64_t>& seats,
                      Grouper& grouper) const {
        return os_of(map_by_groups(sharing, SeatTree(machine, logical(seats)), grouper));
    }
};

// A grouper in Python. It sees only what is free, numbered anew.
class InPython : public Grouper {
  public:
    explicit InPython(nb::callable group) : group_(std::move(group)) {}

    std::vector<std::vector<int>> group(const Matrix& weights, const std::vector<int>& shape,
                                        const std::vector<char>& free,
                                        const Wanted& wanted) override {
        std::vector<int> shown;
        for (int i = 0; i < static_cast<int>(free.size()); ++i) {
            if (free[i]) {
                shown.push_back(i);
            }
        }
        nb::list rows;
        nb::list shapes;
        for (const int i : shown) {
            nb::list row;
            for (const int j : shown) {
                row.append(weights.at(i, j));
            }
            rows.append(row);
            shapes.append(shape[i]);
        }
        auto groups = nb::cast<std::vector<std::vector<int>>>(
            group_(rows, shapes, wanted.groups, wanted.needs));
        for (auto& members : groups) {
            for (int& member : members) {
                member = shown.at(static_cast<size_t>(member));
            }
        }
        return groups;
    }

  private:
    nb::callable group_;
};

nb::tuple Handle::by_groups(nb::handle sharing, const std::vector<int64_t>& seats,
                            const nb::callable& group) const {
    InPython grouper(group);
    return grouped(checked(sharing, seats), seats, grouper);
}

}  // namespace

}  // namespace autofinity::mapping

void bind_mapping(nb::module_& module) {
    using autofinity::mapping::Handle;
    nb::class_<Handle>(module, "Machine", "A topology as the mappers see it.")
        .def(nb::init<autofinity::PuColumns, std::vector<double>, int>(), "pus"_a, "slit"_a,
             "nodes"_a)
        .def("distance", &Handle::distance, "a"_a, "b"_a)
        .def("path", &Handle::path, "cpu"_a)
        .def("cost", &Handle::cost, "sharing"_a, "cpus"_a)
        .def("eager", &Handle::eager, "sharing"_a, "seats"_a)
        .def("bisection", &Handle::bisection, "sharing"_a, "seats"_a)
        .def("refined", &Handle::refine, "sharing"_a, "seats"_a)
        .def("exact", &Handle::exact, "sharing"_a, "cpus"_a, "most_steps"_a)
        .def("by_groups", &Handle::by_groups, "sharing"_a, "seats"_a, "group"_a);
}
