#include "learning/growth.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace autofinity::learning {

// Gains are bits; below this they are rounding.
constexpr double no_gain = 1e-9;

// The most gaining condition seen so far. The gain is that of Quinlan's FOIL (1990): weight for the
// class that stays, times the bits by which it becomes surer.
class Growth::Best {
  public:
    Best(const Pair& total, double least)
        : bits_before(std::log2(total.sum() / total.right)), least_weight(least) {}

    void consider(const Condition& condition, const Pair& stays) {
        // Not even a pure condition could gain more: this saves the logarithm.
        if (stays.right * bits_before <= found.gain) return;
        const double gain = gain_of(stays);
        if (gain > found.gain) found = {condition, gain};
    }

    // Gain in bits; none where too little weight stays.
    double gain_of(const Pair& stays) const {
        return stays.sum() < least_weight ? 0 : bound_of(stays);
    }
    // Bound of the gain in bits, whatever stays.
    double bound_of(const Pair& stays) const {
        if (stays.right <= 0) return 0;
        return stays.right * (bits_before - std::log2(stays.sum() / stays.right));
    }
    double gain() const { return found.gain; }

    std::optional<Choice> choice() const {
        if (found.gain > no_gain) return found;
        return std::nullopt;
    }

  private:
    double bits_before;
    double least_weight;
    Choice found{{}, no_gain};
};

namespace {

// The code below which the value half-way between those of `low` and `high` lies.
Code middle(const std::vector<double>& values, Code low, Code high) {
    const double half = std::midpoint(values[low], values[high]);
    const auto above = std::upper_bound(values.begin() + low + 1, values.begin() + high, half);
    return static_cast<Code>(above - values.begin()) - 1;
}

// The weight of one code after the other, ascending, of the covered rows.
class ByCode {
  public:
    ByCode(std::span<const Place> places, const std::vector<bool>& covered_cells,
           const std::vector<Pair>& weight_of)
        : at(places.begin()), end(places.end()), covered(covered_cells), weight(weight_of) {
        skip();
    }

    bool ended() const { return at == end; }
    Code code() const { return at->code; }
    // Sum of the next code; moves on to the code after it.
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

    std::span<const Place>::iterator at;
    std::span<const Place>::iterator end;
    const std::vector<bool>& covered;
    const std::vector<Pair>& weight;
};

// A column of numbers in whose order a condition is searched.
struct Ordered {
    int index;
    const Column& column;
    Pair known;    // of the covered rows, without missing values
    double least;  // weight that has to stay covered
};

// Only an edge between codes can gain most from which each move costs: the code inside has weight
// for the class, the code outside weight against it. The exceptions are edges that cannot be moved:
// there are no more codes outside, or the code inside is needed for the least weight. The edges
// looked at are those above the codes up to `last`; `below` is the covered weight before the first
// code.
template <typename Best>
void consider_edges(const Ordered& ordered, ByCode codes, Pair below, Code last, Best& best) {
    if (codes.ended()) return;
    Code low = codes.code();
    Pair here = codes.take();
    while (!codes.ended() && low <= last) {
        const Code high = codes.code();
        const Pair next = codes.take();
        const Pair upto = below + here;
        const Pair above = ordered.known - upto;
        const bool ends_below =
            (next.wrong > 0 || codes.ended()) && (here.right > 0 || below.sum() < ordered.least);
        const bool begins_above = (here.wrong > 0 || below.sum() <= 0) &&
                                  (next.right > 0 || (above - next).sum() < ordered.least);
        if (ends_below || begins_above) {
            const Code edge = middle(ordered.column.values, low, high);
            if (ends_below) best.consider({ordered.index, Relation::at_most, edge}, upto);
            if (begins_above) best.consider({ordered.index, Relation::at_least, edge + 1}, above);
        }
        low = high;
        here = next;
        below = upto;
    }
}

// The same, but only in blocks of codes in which a condition could gain most. A condition with all
// the block's weight for the class, and none of its weight against the class, gains more than any
// edge of the block.
template <typename Codes, typename Best>
void consider_blocks(const Ordered& ordered, std::span<const Pair> blocks, int shift,
                     const Codes& codes_from, Best& best) {
    double floor = best.gain();
    Pair upto;
    for (const Pair& block : blocks) {
        upto += block;
        floor = std::max({floor, best.gain_of(upto), best.gain_of(ordered.known - upto)});
    }
    floor -= floor * 1e-9 + no_gain;  // rounding may do this
    upto = {};
    for (std::size_t block = 0; block < blocks.size(); ++block) {
        const Pair before = upto;
        upto += blocks[block];
        if (blocks[block].sum() <= 0) continue;
        const Pair at_most{upto.right, before.wrong};
        const Pair at_least{ordered.known.right - before.right, ordered.known.wrong - upto.wrong};
        if (best.bound_of(at_most) < floor && best.bound_of(at_least) < floor) continue;
        const Code first = static_cast<Code>(block << shift);
        const Code last = static_cast<Code>(((block + 1) << shift) - 1);
        consider_edges(ordered, codes_from(first), before, last, best);
    }
}

}  // namespace

Rule Growth::grow(const std::vector<Pair>& sample, const std::vector<Cell>& left,
                  const Rule& start) {
    begin(sample, left, start);
    Rule rule = start;
    while (const auto choice = best_of_all()) {
        rule.push_back(choice->condition);
        problem.keep(choice->condition, cells);
        mark();
    }
    return rule;
}

std::optional<Choice> Growth::best(const std::vector<Pair>& sample, const std::vector<Cell>& left) {
    begin(sample, left, {});
    return best_of_all();
}

void Growth::begin(const std::vector<Pair>& sample, const std::vector<Cell>& left,
                   const Rule& start) {
    weight = &sample;
    cells = left;
    for (const Condition& condition : start) problem.keep(condition, cells);
    keep_where(cells, [&](Cell cell) { return sample[cell].sum() > 0; });
    few = false;
    kept.resize(problem.columns.size());
    mark();
}

void Growth::mark() {
    covered.assign(problem.cells(), false);
    for (const Cell cell : cells) covered[cell] = true;
    constexpr std::size_t part = 16;  // below one in so many, sorting is faster than searching
    if (few) {
        for (std::vector<Place>& places : kept) {
            std::erase_if(places, [&](Place place) { return !covered[place.cell]; });
        }
    } else if (cells.size() * part <= problem.cells()) {
        few = true;
        for (std::size_t c = 0; c < kept.size(); ++c) keep(c);
    }
}

void Growth::keep(std::size_t column) {
    std::vector<Place>& places = kept[column];
    places.clear();
    for (const Cell cell : cells) {
        const Code code = problem.codes[column][cell];
        if (code != missing) places.push_back({cell, code});
    }
    // Sums of weights depend on their order in the last digit: so the order is that of the column,
    // by cell.
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
        return a.code != b.code ? a.code < b.code : a.cell < b.cell;
    });
}

std::optional<Choice> Growth::best_of_all() {
    Pair all;
    for (const Cell cell : cells) all += (*weight)[cell];
    if (all.right <= 0 || all.wrong <= 0) return std::nullopt;
    Best best(all, least_weight);
    for (std::size_t c = 0; c < kept.size(); ++c) {
        if (few) {
            look_at_kept(c, all, best);
        } else {
            look_at_blocks(c, all, best);
        }
    }
    return best.choice();
}

void Growth::look_at_kept(std::size_t c, const Pair& all, Best& best) const {
    const int index = static_cast<int>(c);
    const Column& column = *problem.columns[c];
    ByCode codes(kept[c], covered, *weight);
    if (column.nominal) {
        while (!codes.ended()) {
            const Condition condition{index, Relation::equal, codes.code()};
            best.consider(condition, codes.take());
        }
        return;
    }
    Pair unknown;
    if (kept[c].size() < cells.size()) {
        for (const Cell cell : cells) {
            if (problem.codes[c][cell] == missing) unknown += (*weight)[cell];
        }
    }
    constexpr Code last = std::numeric_limits<Code>::max();
    consider_edges({index, column, all - unknown, least_weight}, codes, {}, last, best);
}

void Growth::look_at_blocks(std::size_t c, const Pair& all, Best& best) {
    const int index = static_cast<int>(c);
    const Column& column = *problem.columns[c];
    constexpr std::size_t most_blocks = 1024;  // fit the L1
    const std::size_t codes = column.values.size();
    const int shift = column.nominal ? 0 : static_cast<int>(std::bit_width(codes / most_blocks));
    blocks.assign((codes >> shift) + 2, {});
    for (const Cell cell : cells) {
        blocks[static_cast<std::size_t>((problem.codes[c][cell] >> shift) + 1)] += (*weight)[cell];
    }
    static_assert(missing >> 1 == -1, "missing values are summed before the first block");
    const std::span<const Pair> known = std::span(blocks).subspan(1);
    if (column.nominal) {
        for (std::size_t code = 0; code < known.size(); ++code) {
            best.consider({index, Relation::equal, static_cast<Code>(code)}, known[code]);
        }
        return;
    }
    const std::vector<Place>& places = problem.sorted[c];
    const auto codes_from = [&](Code first) {
        const auto at =
            std::lower_bound(places.begin(), places.end(), first,
                             [](const Place& place, Code code) { return place.code < code; });
        return ByCode(std::span(at, places.end()), covered, *weight);
    };
    consider_blocks({index, column, all - blocks[0], least_weight}, known, shift, codes_from, best);
}

}  // namespace autofinity::learning
