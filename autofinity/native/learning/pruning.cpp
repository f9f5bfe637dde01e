#include "learning/pruning.hpp"

namespace autofinity::learning {

std::size_t conditions_to_keep(const Problem& problem, const std::vector<Pair>& weight,
                               std::vector<Cell> cells, const Rule& rule, Worth worth) {
    std::vector<Pair> covered;  // by the first k conditions
    const auto sum = [&] {
        Pair& all = covered.emplace_back();
        for (const Cell cell : cells) all += weight[cell];
    };
    sum();
    for (const Condition& condition : rule) {
        problem.keep(condition, cells);
        sum();
    }
    std::size_t best = 0;
    const auto value = [&](std::size_t k) {
        if (worth == Worth::precision) return (covered[k].right + 1) / (covered[k].sum() + 2);
        return covered[k].right - covered[k].wrong;  // right in all, up to a constant
    };
    for (std::size_t k = 1; k <= rule.size(); ++k) {
        if (value(k) > value(best)) best = k;
    }
    return best;
}

}  // namespace autofinity::learning
