// Python face of the mappers. The Python side checks and words errors; here wrong input is only a
// plain exception.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mapping/cost.hpp"
#include "mapping/exact.hpp"
#include "mapping/grouping.hpp"
#include "mapping/mappers.hpp"
#include "mapping/matrix.hpp"
#include "mapping/seat_tree.hpp"
#include "topology/machine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace autofinity::mapping {

namespace {

using topology::Machine;

// Sums of larger values, times distances, would not be finite.
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

Matrix matrix_of(nb::handle rows, const std::vector<int64_t>& cpus) {
    Matrix matrix = matrix_of(rows);
    if (cpus.empty() || static_cast<size_t>(matrix.size()) != cpus.size()) {
        throw std::invalid_argument("expected one CPU a thread");
    }
    return matrix;
}

std::vector<int> logical(const Machine& machine, const std::vector<int64_t>& cpus) {
    std::vector<int> found;
    for (const int64_t os : cpus) {
        found.push_back(machine.find(os));
        if (found.back() < 0) {
            throw std::invalid_argument("unknown CPU");
        }
    }
    return found;
}

nb::tuple os_of(const Machine& machine, const std::vector<int>& pu_of_thread) {
    nb::tuple made =
        nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(pu_of_thread.size())));
    for (size_t i = 0; i < pu_of_thread.size(); ++i) {
        PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i),
                         PyLong_FromLongLong(machine.pus()[pu_of_thread[i]].os));
    }
    return made;
}

// A grouper in Python. It sees only the free parts, with new numbers.
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

double cost(const Machine& machine, nb::handle sharing, const std::vector<int64_t>& cpus) {
    return cost_of(machine, matrix_of(sharing, cpus), logical(machine, cpus));
}

nb::tuple mapped(const Machine& machine, const std::string& mapper, nb::handle sharing,
                 const std::vector<int64_t>& seats) {
    const Mapper map = mapper_of(mapper);
    const Matrix matrix = matrix_of(sharing, seats);
    return os_of(machine, map(machine, matrix, SeatTree(machine, logical(machine, seats))));
}

nb::tuple by_groups(const Machine& machine, nb::handle sharing, const std::vector<int64_t>& seats,
                    nb::callable group) {
    InPython grouper(std::move(group));
    const Matrix matrix = matrix_of(sharing, seats);
    return os_of(machine,
                 map_by_groups(matrix, SeatTree(machine, logical(machine, seats)), grouper));
}

nb::object exact(const Machine& machine, nb::handle sharing, const std::vector<int64_t>& cpus,
                 int64_t most_steps) {
    const Matrix matrix = matrix_of(sharing, cpus);
    const std::vector<int> pus = logical(machine, cpus);
    const auto found = cheapest(machine, matrix, SeatTree(machine, pus), pus, most_steps);
    return found ? nb::object(os_of(machine, *found)) : nb::none();
}

}  // namespace

}  // namespace autofinity::mapping

void bind_mapping(nb::module_& module) {
    using namespace autofinity::mapping;
    module.def("cost", &cost, "machine"_a, "sharing"_a, "cpus"_a);
    module.def("mapped", &mapped, "machine"_a, "mapper"_a, "sharing"_a, "seats"_a,
               "By a mapper of mappers.cpp.");
    module.def("exact", &exact, "machine"_a, "sharing"_a, "cpus"_a, "most_steps"_a,
               "None where `most_steps` do not suffice.");
    module.def("by_groups", &by_groups, "machine"_a, "sharing"_a, "seats"_a, "group"_a,
               "`group(weights, shapes, groups, needs)` makes the groups of a level, of elements "
               "numbered from 0.");
}
