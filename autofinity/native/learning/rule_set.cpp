#include "learning/rule_set.hpp"

#include <numeric>
#include <utility>

#include "learning/description_length.hpp"

namespace autofinity::learning {

void RuleSet::add(Rule rule) {
    rules.push_back(member(std::move(rule)));
    include(rules.back());
}

void RuleSet::replace(std::size_t index, Rule rule) {
    exclude(rules[index]);
    rules[index] = member(std::move(rule));
    include(rules[index]);
}

std::vector<Cell> RuleSet::left() const {
    std::vector<Cell> cells;
    for (std::size_t cell = 0; cell < covering.size(); ++cell) {
        if (covering[cell] == 0) cells.push_back(static_cast<Cell>(cell));
    }
    return cells;
}

std::vector<Cell> RuleSet::left(std::size_t without) {
    for (const Cell cell : rules[without].cells) --covering[cell];
    std::vector<Cell> cells = left();
    for (const Cell cell : rules[without].cells) ++covering[cell];
    return cells;
}

double RuleSet::bits_with(std::size_t index, const Rule& rule,
                          const std::vector<Cell>& left) const {
    const Pair still = problem.weight_of(left) - problem.weight_of(problem.covered(rule, left));
    return bits_of(theory - bits_of(rules[index].conditions) + bits_of(rule), still);
}

void RuleSet::drop_useless() {
    for (std::size_t index = rules.size(); index-- > 0;) {
        const double before = bits();
        exclude(rules[index]);
        if (bits() > before) {
            include(rules[index]);
        } else {
            rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(index));
        }
    }
}

RuleSet::Member RuleSet::member(Rule rule) const {
    std::vector<Cell> all(problem.cells());
    std::iota(all.begin(), all.end(), 0);
    std::vector<Cell> cells = problem.covered(rule, std::move(all));
    return {std::move(rule), std::move(cells)};
}

void RuleSet::include(const Member& member) {
    theory += bits_of(member.conditions);
    Pair alone;
    for (const Cell cell : member.cells) {
        if (covering[cell]++ == 0) alone += problem.weight[cell];
    }
    uncovered = uncovered - alone;
}

void RuleSet::exclude(const Member& member) {
    theory -= bits_of(member.conditions);
    for (const Cell cell : member.cells) {
        if (--covering[cell] == 0) uncovered += problem.weight[cell];
    }
}

double RuleSet::bits_of(const Rule& rule) const {
    return rule_bits(static_cast<double>(rule.size()), problem.possible);
}

double RuleSet::bits_of(double theory_bits, const Pair& left) const {
    return theory_bits + exception_bits(problem.total - left, left);
}

}  // namespace autofinity::learning
