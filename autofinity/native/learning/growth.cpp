#include "learning/growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace autofinity::learning {

namespace {

// Gains are bits; below this they are rounding.
constexpr double no_gain = 1e-9;

// The most gaining condition seen so far. The gain is that of Quinlan's FOIL (1990): weight for the
// class that stays, times the bits by which it becomes surer.
class Best {
  public:
    Best(const Pair& total, double least)
        : bits_before(std::log2(total.sum() / total.right)), least_weight(least) {}

    void consider(const Condition& condition, const Pair& stays) {
        // Not even a pure condition could gain more: spares the logarithm.
        if (stays.right * bits_before <= found.gain || stays.sum() < least_weight) return;
        const double gain = stays.right * (bits_before - std::log2(stays.sum() / stays.right));
        if (gain > found.gain) found = {condition, gain};
    }

    std::optional<Choice> choice() const {
        if (found.gain > no_gain) return found;
        return std::nullopt;
    }

  private:
    double bits_before;
    double least_weight;
    Choice found{{}, no_gain};
};

// The code below which the value half-way between those of `low` and `high` lies.
Code middle(const std::vector<double>& values, Code low, Code high) {
    const double half = std::midpoint(values[low], values[high]);
    const auto above = std::upper_bound(values.begin() + low + 1, values.begin() + high, half);
    return static_cast<Code>(above - values.begin()) - 1;
}

// The weight of one code after the other, ascending, of what is covered.
class ByCode {
  public:
    ByCode(const std::vector<Place>& places, const std::vector<bool>& covered_cells,
           const std::vector<Pair>& weight_of)
        : at(places.begin()), end(places.end()), covered(covered_cells), weight(weight_of) {
        skip();
    }

    bool ended() const { return at == end; }
    Code code() const { return at->code; }
    // Sum of the code that is next, which is passed.
    Pair take() {
        Pair sum;
        for (const Code of = at->code; at != end && at->code == of; skip()) {
            sum += weight[at->cell];
            ++at;
        }
        return sum;
    }

  private:
    void skip() {
        while (at != end && !covered[at->cell]) ++at;
    }

    std::vector<Place>::const_iterator at;
    std::vector<Place>::const_iterator end;
    const std::vector<bool>& covered;
    const std::vector<Pair>& weight;
};

// Only an edge between codes can gain most where moving it either way costs: the code inside has
// weight for the class, the code outside weight against it. Unless it cannot be moved: outside are
// no more codes, or the code inside is needed for the least weight.
void consider_ordered(ByCode codes, const Pair& known, double least, int index,
                      const Column& column, Best& best) {
    if (codes.ended()) return;
    Code low = codes.code();
    Pair here = codes.take();
    Pair below;
    while (!codes.ended()) {
        const Code high = codes.code();
        const Pair next = codes.take();
        const Pair upto = below + here;
        const Pair above = known - upto;
        const bool ends_below =
            (next.wrong > 0 || codes.ended()) && (here.right > 0 || below.sum() < least);
        const bool begins_above = (here.wrong > 0 || below.sum() <= 0) &&
                                  (next.right > 0 || (above - next).sum() < least);
        if (ends_below || begins_above) {
            const Code edge = middle(column.values, low, high);
            if (ends_below) best.consider({index, Relation::at_most, edge}, upto);
            if (begins_above) best.consider({index, Relation::at_least, edge + 1}, above);
        }
        low = high;
        here = next;
        below = upto;
    }
}

void consider_nominal(ByCode codes, int index, Best& best) {
    while (!codes.ended()) {
        const Condition condition{index, Relation::equal, codes.code()};
        best.consider(condition, codes.take());
    }
}

}  // namespace

Rule Growth::grow(const std::vector<Pair>& sample, const Rule& start) {
    begin(sample, start);
    Rule rule = start;
    while (const auto choice = best_of_all()) {
        rule.push_back(choice->condition);
        narrow({&choice->condition, 1});
    }
    return rule;
}

std::optional<Choice> Growth::best(const std::vector<Pair>& sample, const Rule& start) {
    begin(sample, start);
    return best_of_all();
}

void Growth::begin(const std::vector<Pair>& sample, const Rule& start) {
    weight = &sample;
    cells.clear();
    covered.assign(problem.cells(), false);
    for (std::size_t i = 0; i < problem.cells(); ++i) {
        if (sample[i].sum() > 0) {
            cells.push_back(static_cast<Cell>(i));
            covered[i] = true;
        }
    }
    narrowed = false;
    kept.resize(problem.columns.size());
    if (!start.empty()) narrow(start);
}

void Growth::narrow(std::span<const Condition> conditions) {
    std::erase_if(cells, [&](Cell cell) {
        const bool leaves =
            !std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
                return condition.holds(problem.codes[condition.column][cell]);
            });
        if (leaves) covered[cell] = false;
        return leaves;
    });
    for (std::size_t c = 0; c < kept.size(); ++c) {
        if (narrowed) {
            std::erase_if(kept[c], [&](Place place) { return !covered[place.cell]; });
        } else {
            keep(c);
        }
    }
    narrowed = true;
}

void Growth::keep(std::size_t column) {
    std::vector<Place>& places = kept[column];
    places.clear();
    constexpr std::size_t few = 16;  // one of so many is sorted sooner than found among all
    if (cells.size() * few > problem.cells()) {
        for (const Place place : problem.sorted[column]) {
            if (covered[place.cell]) places.push_back(place);
        }
        return;
    }
    for (const Cell cell : cells) {
        const Code code = problem.codes[column][cell];
        if (code != missing) places.push_back({cell, code});
    }
    // Sums of weights depend on their order in the last place: as in the column, by cell.
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return a.code != b.code ? a.code < b.code : a.cell < b.cell;
    });
}

std::optional<Choice> Growth::best_of_all() const {
    Pair all;
    for (const Cell cell : cells) all += (*weight)[cell];
    if (all.right <= 0 || all.wrong <= 0) return std::nullopt;
    Best best(all, least_weight);
    for (std::size_t c = 0; c < kept.size(); ++c) {
        const int index = static_cast<int>(c);
        const ByCode codes(places(c), covered, *weight);
        if (problem.columns[c]->nominal) {
            consider_nominal(codes, index, best);
            continue;
        }
        Pair unknown;
        if (problem.sorted[c].size() < problem.cells()) {
            for (const Cell cell : cells) {
                if (problem.codes[c][cell] == missing) unknown += (*weight)[cell];
            }
        }
        consider_ordered(codes, all - unknown, least_weight, index, *problem.columns[c], best);
    }
    return best.choice();
}

const std::vector<Place>& Growth::places(std::size_t column) const {
    return narrowed ? kept[column] : problem.sorted[column];
}

}  // namespace autofinity::learning
