// Everything between a core and DRAM: private caches, last-level caches, the directory that keeps
// them coherent, pages, controllers and links.
//
//     core ── L1 ── L2 ──┐
//     core ── L1 ─┬ L2 ──┴─ LLC of the domain ── directory at the home node ── DRAM
//     core ── L1 ─┘
//
// The directory knows L2s (L2 domains): the cores of one keep their L1s coherent among themselves
// (shared_l2.cpp).
//
// A page walk reads the entry from the L2 on (from the L1 on where there is no L2), a prefetch puts
// its line into the L2 (the LLC): both are loads of the core like any other from there outwards.
//
// Every transition of a line is a directory transaction, so at any instant (`check` says so):
//  · at most one L2 domain owns a line (M, E or O), and M or E means that no other domain has it;
//    within the domain, M or E in an L1 means that no other L1 has it;
//  · a dirty line has one place that must write it back: its owner or one LLC (`dirty_llc`);
//  · the directory knows exactly who holds what; a finite one (probe filter) has an entry at the
//    home node for each line that anybody holds.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "directory_line.hpp"
#include "foreseen.hpp"
#include "machine_kind.hpp"
#include "pages.hpp"
#include "private_caches.hpp"
#include "server.hpp"
#include "sharers.hpp"
#include "sim/counts.hpp"
#include "sim/machine.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

class Memory {
  public:
    Memory(const MachineModel& machine, const Program& program, Placement placement,
           std::uint64_t seed);

    // Cores that can have caches at a time: 64, or all where more threads than that run.
    std::uint32_t most_cached_cores() const { return most_; }
    // Number of a core with caches, given on first use. Throws SimulationError where none is left.
    std::uint32_t cached_core_of(std::uint32_t core);
    PrivateCaches& caches(std::uint32_t cached_core) { return *cores_[cached_core]; }
    // The core's lines leave it, and its number is free for another one. Nothing may run
    // there.
    void release(std::uint32_t cached_core);
    bool has_room() const { return !free_.empty() || cores_.size() < most_; }
    bool in_use(std::uint32_t core) const { return cached_core_of_[core] >= 0; }
    std::uint32_t cached_cores() const { return static_cast<std::uint32_t>(cores_.size()); }

    // Whether nobody has touched the line's page yet, so that an access faults.
    bool faults(Line line) const { return !pages_.mapped(line >> page_shift); }
    // Page fault: the kernel places the line's page; returns how long that keeps the core.
    Ticks take_fault(std::uint32_t cached_core, Line line);
    // Begins to bring what the accesses after `at` will look at, should they miss, into the host's
    // caches (foresight.cpp). Changes nothing but `seen`, what it knows of them.
    void foresee(PrivateCaches& c, const Step* at, Foreseen& seen) const;
    // Whether that pays: looking ahead costs a fifth of a miss, in vain if the host has all near.
    bool worth_foresight() const { return worth_foresight_; }
    // Whether it would find its line in the L1.
    bool hits_l1(std::uint32_t cached_core, const Step& step) const;
    // Carries an access to a mapped page out at `now`, once the page has been translated.
    // `faulted`: a fault has just written the page-table entry.
    Served access(std::uint32_t cached_core, const Step& step, Ticks now, bool faulted);
    // Moves the unit of a page: caches and TLBs forget it, its lines are read and written.
    Moved move_page(std::uint32_t page, std::uint32_t node, Ticks now);
    // All TLBs forget the translation of the page's unit; returns the cached_cores of those that
    // had it.
    CachedCores shoot_down(std::uint32_t page);
    // The page walk since the last call, if there was one.
    Walk take_walk() { return std::exchange(walk_, {}); }
    const Units& units() const { return pages_.units; }

    // Lost lines since the last call of clear_lost().
    const std::vector<Lost>& lost() const { return lost_; }
    void clear_lost() { lost_.clear(); }

    const LlcRequests& any_core(std::uint32_t llc) const { return any_core_[llc]; }
    std::uint32_t node_of_page(std::uint32_t page) const { return pages_.node(page); }
    bool page_mapped(std::uint32_t page) const { return pages_.mapped(page); }
    Ticks transfer(std::uint32_t from_core, std::uint32_t to_core) const {
        if (from_core != to_core &&
            machine_.topology.l2_of_core()[from_core] == machine_.topology.l2_of_core()[to_core])
            return machine_.classes[machine_.class_of_core[to_core]].side.l2_hit;
        return machine_.load_modified[distance(machine_.topology.llc_of_core()[from_core],
                                               machine_.topology.llc_of_core()[to_core])];
    }
    // Throws SimulationError naming the first broken invariant.
    void check() const;

  private:
    std::uint32_t domain_of(std::uint32_t core);

    enum class Request : std::uint8_t { load, store, atomic };

    std::uint32_t distance(std::uint32_t llc_a, std::uint32_t llc_b) const {
        return machine_.llc_distance[llc_a * machine_.topology.llcs() + llc_b];
    }
    template <bool many = true>
    SharersOf<many> sharers(Line line, DirectoryLine& d) {
        if constexpr (!many) return {d.first_sharers, nullptr, 0};
        return {d.first_sharers, more_sharers_.data() + std::size_t{line} * more_words_,
                more_words_};
    }
    Sharers sharers(Line line) { return sharers(line, directory_[line]); }
    std::uint64_t* domains_of_llc(std::uint32_t llc) {
        return &domains_of_llc_[std::size_t{llc} * (more_words_ + 1)];
    }
    // Whether no core has the line.
    template <MachineKind kind = MachineKind::any>
    bool in_no_core(Line line, DirectoryLine& d) {
        return d.first_sharers == 0 &&
               (!Asked<kind>::many_sharers(more_words_) || sharers(line, d).none());
    }
    // Nobody has the line.
    void forget(Line line) {
        sharers(line).clear();
        directory_[line] = DirectoryLine{};
    }
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    template <bool many>
    std::uint32_t farthest(std::uint32_t llc, SharersOf<many> have, std::uint32_t llcs) const;
    struct Supplier {
        std::uint32_t llc;     // nowhere: nobody supplies the line
        std::uint32_t domain;  // nowhere: the LLC itself
    };
    template <bool many>
    Supplier nearest(std::uint32_t llc, SharersOf<many> have, std::uint32_t llcs) const;
    template <bool many>
    Supplier supplier_of_clean(std::uint32_t llc, SharersOf<many> have, std::uint32_t llcs);

    template <MachineKind kind>
    Served access_on(PrivateCaches& c, const Step& step, Ticks now, bool faulted);
    // Makes the translation of a page present; returns what it cost.
    template <MachineKind kind>
    Ticks translate(PrivateCaches& c, std::uint32_t page, Ticks now, bool faulted);

    template <MachineKind kind>
    Ticks fetch(PrivateCaches& c, Line line, Request request, Ticks now, Word& granted,
                bool& contended);
    Ticks upgrade(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended);
    Ticks from_dram(PrivateCaches& c, Line line, Ticks now);
    // Takes a line over the links between two nodes; returns how long it waited for them.
    Ticks cross(std::uint32_t from_node, std::uint32_t to_node, Ticks now, Counts& n);
    // The same over the links of the route between a pair of nodes.
    Ticks cross_links(std::uint32_t pair, Ticks now, Counts& n);
    // A request, probe or answer: too small to queue.
    void signal(std::uint32_t from_node, std::uint32_t to_node) const;
    void write_dram(std::uint32_t from_node, Line line);
    Ticks transfer_line(PrivateCaches& c, std::uint32_t from_llc, Ticks now);
    Counts& counts_of_copy(std::uint32_t domain, Line line);
    template <bool many>
    void take_from_others(const PrivateCaches& c, Line line, DirectoryLine& d);
    // `fetch` and `upgrade`, compiled for lines of at most 64 sharers and of more.
    template <MachineKind kind, bool many>
    Ticks fetch_line(PrivateCaches& c, Line line, Request request, Ticks now, Word& granted,
                     bool& contended);
    template <bool many>
    Ticks upgrade_line(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended);

    // Probe filter: gives the line an entry, at the cost of another line; the line has left.
    // `held`: by any cache, so that it has one.
    Word* filter_set(Line line) const;
    void track(Line line, bool held);
    void untrack(Line line);
    void recall(Line line);

    // Page-table entry of a walk, read or (by a page fault) written.
    template <MachineKind kind>
    Ticks entry(PrivateCaches& c, Line line, bool write, Ticks now);
    template <MachineKind kind>
    Ticks arrival(PrivateCaches& c, Line line, bool was_there, Ticks ready);
    template <MachineKind kind>
    void prefetch(PrivateCaches& c, Line line, Ticks now);
    template <MachineKind kind>
    void prefetch_into_l2(PrivateCaches& c, Line line, Ticks now);
    void prefetch_into_llc(PrivateCaches& c, Line line, Ticks now);

    // Private side.
    // Of an L2 domain. Whether it has the line the directory knows; its state the arrays.
    template <MachineKind kind>
    bool holds(std::uint32_t domain, Line line) const {
        if (Asked<kind>::known || domain < domains_in_a_word)
            return (directory_[line].first_sharers >> domain & 1) != 0;
        const std::size_t word = domain / domains_in_a_word - 1;
        return (more_sharers_[line * std::size_t{more_words_} + word] >>
                    domain % domains_in_a_word &
                1) != 0;
    }
    Word private_state(std::uint32_t domain, Line line);
    void set_private_state(std::uint32_t domain, Line line, Word state);
    Word drop_private(std::uint32_t domain, Line line);
    // What runs on the domain's cores learns that it has lost the line, or the right to write it.
    void tell_lost(std::uint32_t domain, Line line, bool only_write) {
        for (const std::uint32_t cached_core : l2_domains_[domain]->cores)
            lost_.push_back({cached_core, line, only_write});
    }
    // Visits the cores of a domain that have a copy of the line in their L1; the first core where
    // only the L2 has it.
    template <typename Visit>
    void each_copy(std::uint32_t domain, Line line, Visit&& visit);
    template <MachineKind kind>
    void fill_l2(PrivateCaches& c, Line line, Word state);
    template <MachineKind kind>
    void fill_l1(PrivateCaches& c, Word* set, int tag, Word word);
    template <MachineKind kind = MachineKind::any>
    void leave_private(const PrivateCaches& c, Word word);

    // Cores that share an L2 (shared_l2.cpp).
    Word take_from_l2(PrivateCaches& c, Line line, bool load, Ticks now, Ticks& ready,
                      bool& contended);
    Ticks upgrade_in_l2(PrivateCaches& c, Line line, Ticks now, bool& contended);
    bool take_from_siblings(PrivateCaches& c, Line line);
    template <typename Visit>
    void each_sibling_copy(const PrivateCaches& c, Line line, Visit&& visit);
    Ticks due_from_any(const L2Domain& domain, Line line);
    Word shared_l2_state(const L2Domain& domain, Line line);
    void set_shared_l2_state(const L2Domain& domain, Line line, Word state);
    Word drop_from_l1s(const L2Domain& domain, Line line, Word state);
    Word leave_l1s(const PrivateCaches& c, Word out);
    void leave_shared_l2(std::uint32_t cached_core);
    void check_shared(PrivateCaches& c, Word word);

    // Parts of foresee.
    template <MachineKind kind>
    void foresee_on(PrivateCaches& c, const Step* at, Foreseen& seen) const;
    template <MachineKind kind>
    void foresee_since(PrivateCaches& c, const Step* at, Foreseen& seen, std::size_t passed) const;
    template <MachineKind kind>
    void foresee_lines(PrivateCaches& c, Line line, ForeseenMiss& known) const;
    template <MachineKind kind>
    void foresee_moves(const PrivateCaches& c, Line line, ForeseenMiss& known) const;
    template <MachineKind kind>
    const Word* foresee_fetch(const PrivateCaches& c, Line line) const;
    template <MachineKind kind>
    const Word* foresee_leaving(const PrivateCaches& c, const Word* l2_set) const;
    template <MachineKind kind>
    void foresee_leaving_llc(const Word* set) const;
    void foresee_recall(const Word* set) const;
    const Word* foresee_filter(Line line) const;

    // LLC side.
    template <MachineKind kind = MachineKind::any>
    void llc_insert(std::uint32_t llc, Line line);
    template <MachineKind kind>
    void llc_evict(std::uint32_t llc, Line line);
    void llc_remove(std::uint32_t llc, Line line);
    void llc_touch(std::uint32_t llc, Line line);

    Ticks wait_for_line(Line line, Ticks now) const {
        const Busy& busy = busy_[line % busy_.size()];
        return busy.line == line && busy.until > now ? busy.until : now;
    }
    void keep_busy(Line line, Ticks until) { busy_[line % busy_.size()] = {line, until}; }

    // Contended lines whose transfer is under way. Entries that collide forget the older one, which
    // only shortens a queue by one transfer.
    struct Busy {
        Line line = 0;
        Ticks until = 0;
    };

    const MachineModel& machine_;
    Pages pages_;
    Zeroed<DirectoryLine> directory_;
    const std::uint32_t most_;
    const std::uint32_t more_words_;      // of a line's sharers, after the first
    Zeroed<std::uint64_t> more_sharers_;  // these, by line
    ArraysOfSets llcs_;
    ArraysOfSets filters_;  // of the nodes; none: unlimited directories
    const bool worth_foresight_;
    const MachineKind kind_;
    std::vector<std::unique_ptr<PrivateCaches>> cores_;
    std::vector<std::int32_t> cached_core_of_;
    std::vector<std::uint32_t> free_;
    std::vector<std::unique_ptr<L2Domain>>
        l2_domains_;  // of private L2s: numbered like the cached cores
    std::vector<std::int32_t> domain_of_l2_;
    std::vector<std::uint32_t> free_domains_;
    std::vector<bool> l2_is_shared_;             // by number in the machine
    std::vector<std::uint64_t> domains_of_llc_;  // L2 domains in use, bits of as many words
    std::vector<std::uint32_t> node_of_llc_;
    std::vector<LlcRequests> any_core_;
    std::vector<Server> controllers_, links_, fabrics_;
    std::array<Busy, 1024> busy_{};
    std::vector<Lost> lost_;
    Walk walk_;
    std::uint8_t supplied_ = 0;  // to the latest fetch, as in Served
    Counts nobody_{};            // takes the counts of cores on which nothing runs
    // Of the access under way.
    Ticks now_ = 0;
    Counts* counts_ = &nobody_;
};

}  // namespace autofinity::sim
