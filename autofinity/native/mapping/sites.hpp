// Sites: parts of the machine that each hold one element, a thread or a group of threads, and the
// distances between them, in a form in which exchanges of elements are evaluated quickly.
#pragma once

#include <vector>

#include "topology/machine.hpp"

namespace autofinity::mapping {

class Sites {
  public:
    // A cell is an LLC domain's part in a place: sites of one cell that share no L2 are `same_llc`
    // apart, all others as far as their cells.
    struct Run {
        int first;
        int end;
        int cell;
    };
    // Sites that share an L2, a core or a PU are nearer to each other than to the others of their
    // LLC domain.
    struct Closer {
        std::vector<int> sites;  // two or more
        double by;
    };

    // `pu` is a PU of each site; elements are exchanged between sites of one `kind`. Exchanges are
    // quick where sites that share a part follow each other.
    Sites(const topology::Machine& machine, std::vector<int> pu, std::vector<int> kind);

    int size() const { return static_cast<int>(pu_.size()); }
    int cells() const { return cells_; }
    int cell(int site) const { return cell_[site]; }
    double between_cells(int a, int b) const {
        return between_cells_[static_cast<size_t>(a) * cells_ + b];
    }
    const std::vector<Run>& runs() const { return runs_; }
    const std::vector<Closer>& closer() const { return closer_; }
    // Sites in the L2 of a site, including itself.
    const std::vector<int>& near(int site) const { return near_[l2_[site]]; }
    // Difference in distance between a site in another L2 of the cell and one in the same L2.
    double nearness(int site, int other) const {
        return machine_.distance(pu_[site], pu_[other]) - topology::same_llc;
    }
    bool of_one_pu(int a, int b) const { return pu_[a] == pu_[b]; }
    bool of_one_kind() const { return of_one_kind_; }
    int kind(int site) const { return kind_[site]; }

  private:
    void number_cells();
    void find_closer();

    const topology::Machine& machine_;
    std::vector<int> pu_;
    std::vector<int> kind_;
    bool of_one_kind_;
    int cells_ = 0;
    std::vector<int> cell_;
    std::vector<double> between_cells_;
    std::vector<Run> runs_;
    std::vector<Closer> closer_;
    std::vector<int> l2_;
    std::vector<std::vector<int>> near_;
};

}  // namespace autofinity::mapping
