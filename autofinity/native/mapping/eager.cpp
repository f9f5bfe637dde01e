#include "mapping/eager.hpp"

#include <algorithm>
#include <utility>

namespace autofinity::mapping {

namespace {

// Elements that can still be chosen, by index, with their sharing with the group being made. Chosen
// elements are removed, so that the sweeps become shorter.
class Pool {
  public:
    Pool(const Matrix& weights, const std::vector<int>& shape, const std::vector<char>& free)
        : weights_(weights), shape_(shape), shared_(free.size()) {
        for (int i = 0; i < static_cast<int>(free.size()); ++i) {
            if (free[i]) {
                left_.push_back(i);
            }
        }
    }

    void begin() { std::fill(shared_.begin(), shared_.end(), 0.0); }

    // Removes and returns the needed element that shares most with the group; its place in `needs`
    // goes to `need`.
    int best(const std::vector<std::pair<int, int>>& needs, size_t& need) {
        size_t found = left_.size();
        for (size_t at = 0; at < left_.size(); ++at) {
            if (found < left_.size() && shared_[left_[at]] <= shared_[left_[found]]) {
                continue;
            }
            for (size_t i = 0; i < needs.size(); ++i) {
                if (needs[i].second > 0 && needs[i].first == shape_[left_[at]]) {
                    found = at;
                    need = i;
                }
            }
        }
        const int element = left_.at(found);
        left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(found));
        const double* row = weights_.row(element);
        for (size_t i = 0; i < shared_.size(); ++i) {
            shared_[i] += row[i];
        }
        return element;
    }

  private:
    const Matrix& weights_;
    const std::vector<int>& shape_;
    std::vector<double> shared_;
    std::vector<int> left_;
};

}  // namespace

std::vector<std::vector<int>> Eager::group(const Matrix& weights, const std::vector<int>& shape,
                                           const std::vector<char>& free, const Wanted& wanted) {
    Pool pool(weights, shape, free);
    std::vector<std::vector<int>> groups(wanted.groups);
    for (auto& group : groups) {
        auto needs = wanted.needs;
        int missing = 0;
        for (const auto& need : needs) {
            missing += need.second;
        }
        pool.begin();
        for (; missing > 0; --missing) {
            size_t need = 0;
            group.push_back(pool.best(needs, need));
            --needs[need].second;
        }
    }
    return groups;
}

}  // namespace autofinity::mapping
