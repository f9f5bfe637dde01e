// Python face of RIPPER: `autofinity._core.learning`. The Python side checks and words errors.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "learning/description_length.hpp"
#include "learning/growth.hpp"
#include "learning/ripper.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace autofinity::learning;

namespace {

using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Labels = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Test = std::tuple<int, std::string, double>;
using Answer = std::tuple<std::vector<Test>, std::vector<double>, int>;

Table table_of(const Values& values, const std::vector<bool>& nominal, const Labels& labels,
               const Weights& weights, int classes) {
    const std::size_t rows = values.shape(0);
    if (labels.shape(0) != rows || weights.shape(0) != rows || nominal.size() != values.shape(1) ||
        rows > std::numeric_limits<Cell>::max()) {
        throw std::invalid_argument("rows, labels, weights or columns do not agree, or too many");
    }
    const std::span label(labels.data(), rows);
    for (const std::int32_t one : label) {
        if (one < 0 || one >= classes) throw std::invalid_argument("a label that is no class");
    }
    return make_table(std::span(values.data(), values.size()), nominal, label,
                      std::span(weights.data(), rows), classes);
}

Test test_of(const Table& table, const Condition& condition) {
    constexpr const char* names[] = {"<=", ">", "="};
    return {condition.column, names[static_cast<int>(condition.relation)],
            table.number_of(condition)};
}

std::vector<Answer> learn(const Values& values, const std::vector<bool>& nominal,
                          const Labels& labels, const Weights& weights, int classes, int passes,
                          double least_weight, std::uint64_t seed) {
    const auto interrupted = [] {
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    };
    const Settings settings{passes, least_weight, seed, interrupted};
    std::vector<Answer> answers;
    {
        const nb::gil_scoped_release released;
        const Table table = table_of(values, nominal, labels, weights, classes);
        for (const FoundRule& rule : ripper(table, settings)) {
            std::vector<Test> tests;
            for (const Condition& condition : rule.conditions) {
                tests.push_back(test_of(table, condition));
            }
            answers.emplace_back(std::move(tests), rule.weight, rule.label);
        }
    }
    return answers;
}

// The step of growing on all rows, for class 1 against class 0.
std::optional<std::tuple<int, std::string, double, double>> best_condition(
    const Values& values, const std::vector<bool>& nominal, const Labels& labels,
    const Weights& weights, double least_weight) {
    const Table table = table_of(values, nominal, labels, weights, 2);
    std::vector<Cell> cells;
    for (std::size_t cell = 0; cell < table.cells(); ++cell) {
        cells.push_back(static_cast<Cell>(cell));
    }
    const Problem problem = make_problem(table, cells, 1);
    const auto choice = Growth(problem, least_weight).best(problem.weight, cells);
    if (!choice) return std::nullopt;
    const auto [column, relation, number] = test_of(table, choice->condition);
    return std::tuple(column, relation, number, choice->gain);
}

}  // namespace

void bind_learning(nb::module_& module) {
    module.def("ripper", &learn, "values"_a, "nominal"_a, "labels"_a, "weights"_a, nb::kw_only(),
               "classes"_a, "passes"_a, "least_weight"_a, "seed"_a,
               "Rules in order, the default last: (tests, weight of each class, label).");
    module.def("best_condition", &best_condition, "values"_a, "nominal"_a, "labels"_a, "weights"_a,
               "least_weight"_a,
               "The condition that gains most for label 1 against 0: (column, relation, number, "
               "gain in bits), or None.");
    module.def("rule_bits", &rule_bits, "conditions"_a, "possible"_a);
    module.def(
        "exception_bits",
        [](double covered_right, double covered_wrong, double left_right, double left_wrong) {
            return exception_bits({covered_right, covered_wrong}, {left_right, left_wrong});
        },
        "covered_right"_a, "covered_wrong"_a, "left_right"_a, "left_wrong"_a);
}
