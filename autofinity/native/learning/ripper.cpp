#include "learning/ripper.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "learning/growth.hpp"
#include "learning/pruning.hpp"
#include "learning/rule_set.hpp"
#include "learning/split.hpp"

namespace autofinity::learning {

namespace {

// How far the description may grow beyond the shortest seen (Cohen, section 3.2).
constexpr double surplus_bits = 64;

// The rules of one class.
class OneClass {
  public:
    OneClass(const Problem& over, const Settings& how, Draw& source)
        : problem(over), settings(how), draw(source), growth(over, how.least_weight), rules(over) {}

    RuleSet learn() && {
        cover();
        for (int pass = 0; pass < settings.passes; ++pass) {
            for (std::size_t index = 0; index < rules.size(); ++index) reconsider(index);
            cover();
        }
        return std::move(rules);
    }

  private:
    // Adds rules until no row of the class is left, or more rules do not pay.
    void cover() {
        double least = rules.bits();
        while (true) {
            settings.pause();
            const std::vector<Cell> left = rules.left();
            if (!any_right(left)) break;
            split(problem, left, draw, samples);
            Rule rule = pruned(growth.grow(samples.growing, left, {}), left, Worth::precision);
            if (rule.empty()) break;
            const Pair covered = problem.weight_of(problem.covered(rule, left));
            if (covered.right <= covered.wrong) break;
            rules.add(std::move(rule));
            const double bits = rules.bits();
            least = std::min(least, bits);
            if (bits > least + surplus_bits) break;
        }
        rules.drop_useless();
    }

    // Keeps the rule, a replacement or a revision: the one with the shortest description. Both see
    // only the rows that the other rules leave, and are pruned for the fewest errors of the whole
    // set.
    void reconsider(std::size_t index) {
        settings.pause();
        const std::vector<Cell> left = rules.left(index);
        if (!any_right(left)) return;
        Rule best = rules[index];
        double least = rules.bits();
        split(problem, left, draw, samples);
        for (const Rule& start : {Rule{}, rules[index]}) {
            Rule rule = pruned(growth.grow(samples.growing, left, start), left, Worth::accuracy);
            if (rule.empty()) continue;
            const double bits = rules.bits_with(index, rule, left);
            if (bits < least) {
                least = bits;
                best = std::move(rule);
            }
        }
        rules.replace(index, std::move(best));
    }

    Rule pruned(Rule rule, const std::vector<Cell>& left, Worth worth) const {
        rule.resize(conditions_to_keep(problem, samples.pruning, left, rule, worth));
        return rule;
    }

    bool any_right(const std::vector<Cell>& cells) const {
        return std::any_of(cells.begin(), cells.end(),
                           [&](Cell cell) { return problem.weight[cell].right > 0; });
    }

    const Problem& problem;
    const Settings& settings;
    Draw& draw;
    Growth growth;
    RuleSet rules;
    Samples samples;
};

// Labels that occur, the rarest first; among equally frequent ones the larger label first, which
// for two labels is by custom the positive one.
std::vector<int> rarest_first(const Table& table) {
    std::vector<double> weight(table.classes, 0.0);
    for (const ClassWeight& part : table.weights) weight[part.label] += part.weight;
    std::vector<int> labels;
    for (int label = table.classes; label-- > 0;) {
        if (weight[label] > 0) labels.push_back(label);
    }
    std::stable_sort(labels.begin(), labels.end(),
                     [&](int a, int b) { return weight[a] < weight[b]; });
    return labels;
}

// Moves the cells that a rule covers out of `left`. Returns the weights of the classes in them.
std::vector<double> take_covered(const Table& table, const Rule& rule, std::vector<Cell>& left) {
    std::vector<double> weight(table.classes, 0.0);
    std::vector<Cell> covered = left;
    for (const Condition& condition : rule) {
        keep_covered(condition, table.columns[condition.column].codes, covered);
    }
    for (const Cell cell : covered) {
        for (const ClassWeight& part : table.of(cell)) weight[part.label] += part.weight;
    }
    std::vector<Cell> rest;
    rest.reserve(left.size() - covered.size());
    std::set_difference(left.begin(), left.end(), covered.begin(), covered.end(),
                        std::back_inserter(rest));
    left = std::move(rest);
    return weight;
}

}  // namespace

std::vector<FoundRule> ripper(const Table& table, const Settings& settings) {
    std::vector<FoundRule> found;
    std::vector<Cell> left(table.cells());
    std::iota(left.begin(), left.end(), 0);
    const std::vector<int> labels = rarest_first(table);
    Draw draw(settings.seed);
    for (std::size_t i = 0; i + 1 < labels.size(); ++i) {
        const Problem problem = make_problem(table, left, labels[i]);
        const RuleSet rules = OneClass(problem, settings, draw).learn();
        for (std::size_t index = 0; index < rules.size(); ++index) {
            std::vector<double> weight = take_covered(table, rules[index], left);
            found.push_back({rules[index], std::move(weight), labels[i]});
        }
    }
    const int most = labels.empty() ? 0 : labels.back();
    found.push_back({{}, take_covered(table, {}, left), most});
    return found;
}

}  // namespace autofinity::learning
