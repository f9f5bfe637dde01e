#include "learning/pruning.hpp"

namespace autofinity::learning {

std::size_t conditions_to_keep(const Problem& problem, const std::vector<Pair>& weight,
                               const Rule& rule, Worth worth) {
    // covered[k]: what the first k conditions cover; filled from what fails at condition k.
    std::vector<Pair> covered(rule.size() + 1);
    for (std::size_t cell = 0; cell < problem.cells(); ++cell) {
        if (weight[cell].sum() <= 0) continue;
        std::size_t k = 0;
        while (k < rule.size() && rule[k].holds(problem.codes[rule[k].column][cell])) ++k;
        covered[k] += weight[cell];
    }
    for (std::size_t k = rule.size(); k-- > 0;) covered[k] += covered[k + 1];
    std::size_t best = 0;
    const auto value = [&](std::size_t k) {
        if (worth == Worth::precision) return (covered[k].right + 1) / (covered[k].sum() + 2);
        return covered[k].right - covered[k].wrong;  // right in all, but for a constant
    };
    for (std::size_t k = 1; k <= rule.size(); ++k) {
        if (value(k) > value(best)) best = k;
    }
    return best;
}

}  // namespace autofinity::learning
