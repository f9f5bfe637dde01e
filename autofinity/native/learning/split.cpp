#include "learning/split.hpp"

#include <algorithm>
#include <cmath>

namespace autofinity::learning {

namespace {

constexpr std::int64_t parts = 3;
// Up to so many rows are chosen one by one; for more, their number is a random sample of the normal
// distribution with the same mean and variance.
constexpr std::int64_t one_by_one = 32;

struct Shares {
    double growing;
    double pruning;
};

// Samples without replacement from the remaining rows of one kind.
class Urn {
  public:
    Urn(std::int64_t rows, Draw& source) : all(rows), wanted(rows / parts), draw(source) {}

    Shares take(std::int64_t rows, double weight) {
        if (rows == 0) return {0, 0};
        const std::int64_t pruning = draw.among(rows, all, wanted);
        all -= rows;
        wanted -= pruning;
        const double share = static_cast<double>(pruning) / static_cast<double>(rows);
        if (pruning == rows) return {0, weight};
        return {weight - weight * share, weight * share};
    }

  private:
    std::int64_t all;
    std::int64_t wanted;
    Draw& draw;
};

}  // namespace

std::int64_t Draw::among(std::int64_t some, std::int64_t all, std::int64_t drawn) {
    if (some <= one_by_one) {
        std::int64_t found = 0;
        for (; some > 0; --some, --all) {
            if (uniform() * static_cast<double>(all) < static_cast<double>(drawn - found)) ++found;
        }
        return found;
    }
    const double n = static_cast<double>(all);
    const double share = static_cast<double>(drawn) / n;
    const double mean = share * static_cast<double>(some);
    const double variance =
        mean * (1 - share) * static_cast<double>(all - some) / std::max(n - 1, 1.0);
    double normal = -6;  // the sum of twelve uniform numbers: variance 1
    for (int i = 0; i < 12; ++i) normal += uniform();
    return std::clamp(std::llround(mean + normal * std::sqrt(variance)),
                      static_cast<long long>(std::max<std::int64_t>(0, drawn - (all - some))),
                      static_cast<long long>(std::min(some, drawn)));
}

void split(const Problem& problem, const std::vector<Cell>& left, Draw& draw, Samples& samples) {
    samples.growing.resize(problem.cells());
    samples.pruning.resize(problem.cells());
    Units rows;
    for (const Cell cell : left) {
        rows.right += problem.units[cell].right;
        rows.wrong += problem.units[cell].wrong;
    }
    Urn right(rows.right, draw);
    Urn wrong(rows.wrong, draw);
    for (const Cell cell : left) {
        const Shares of_right = right.take(problem.units[cell].right, problem.weight[cell].right);
        const Shares of_wrong = wrong.take(problem.units[cell].wrong, problem.weight[cell].wrong);
        samples.growing[cell] = {of_right.growing, of_wrong.growing};
        samples.pruning[cell] = {of_right.pruning, of_wrong.pruning};
    }
}

}  // namespace autofinity::learning
