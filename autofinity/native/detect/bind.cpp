// Python face of the detectors' tables: `autofinity._core.detect`. Wrong sizes and numbers raise
// ValueError.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <bit>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>

#include "detect/block_table.hpp"
#include "detect/numa_table.hpp"
#include "detect/page_history.hpp"
#include "detect/sub_block_table.hpp"
#include "detect/tlb_mirrors.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace autofinity::detect;

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

// A table of one thread an entry to `most` of them, in memory that is there.
std::size_t within(std::uint64_t number, std::uint64_t most, const char* what) {
    if (number < 1 || number > most)
        throw std::invalid_argument(std::string(what) + " is " + std::to_string(number) +
                                    "; expected 1 to " + std::to_string(most));
    return number;
}

Thread thread_of(std::uint64_t number, const SharingCounts& counts) {
    if (number >= counts.threads())
        throw std::invalid_argument("no thread " + std::to_string(number) + "; there are " +
                                    std::to_string(counts.threads()));
    return static_cast<Thread>(number);
}

std::uint32_t sharers_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(within(number, most_sharers, "sharers"));
}

std::vector<std::vector<std::uint64_t>> row_by_row(const std::vector<std::uint64_t>& cells,
                                                   std::size_t threads) {
    std::vector<std::vector<std::uint64_t>> rows;
    for (std::size_t row = 0; row < threads; ++row)
        rows.emplace_back(cells.begin() + row * threads, cells.begin() + (row + 1) * threads);
    return rows;
}

// Threads that are there, latest first.
std::vector<Thread> present(std::span<const Thread> last) {
    std::vector<Thread> found;
    for (const Thread thread : last)
        if (thread != no_thread) found.push_back(thread);
    return found;
}

}  // namespace

void bind_detect(nb::module_& module) {
    nb::class_<SharingCounts>(module, "SharingCounts", "How often each pair of threads shared.")
        .def(
            "__init__",
            [](SharingCounts* self, std::uint64_t threads) {
                new (self) SharingCounts(within(threads, 4096, "threads"));
            },
            "threads"_a)
        .def(
            "cells",
            [](const SharingCounts& self) { return row_by_row(self.cells(), self.threads()); },
            "Sharing of each pair: symmetric.")
        .def(
            "rows",
            [](const SharingCounts& self) { return row_by_row(self.rows(), self.threads()); },
            "Counts of each thread.");

    nb::class_<BlockTable>(module, "BlockTable", "Hash table of blocks (SPCD, kMAF'16).")
        .def(
            "__init__",
            [](BlockTable* self, std::uint64_t entries, std::uint64_t sharers) {
                require(within(entries, 1 << 26, "entries") && std::has_single_bit(entries),
                        "entries must be a power of two");
                new (self) BlockTable(static_cast<std::uint32_t>(entries), sharers_of(sharers));
            },
            "entries"_a = 1 << 20, "sharers"_a = 2)
        .def(
            "touch",
            [](BlockTable& self, std::uint64_t block, std::uint64_t thread, SharingCounts& counts) {
                self.touch(block, thread_of(thread, counts), counts);
            },
            "block"_a, "thread"_a, "counts"_a)
        .def("__len__", &BlockTable::size, "Entries that were taken by a block.")
        .def(
            "threads_at",
            [](const BlockTable& self, std::uint64_t block) {
                return present(self.threads_at(block));
            },
            "block"_a, "Latest first.");

    nb::class_<SubBlockTable>(module, "SubBlockTable", "Sub-block vectors (kMAF'14).")
        .def(
            "__init__",
            [](SubBlockTable* self, std::uint64_t sharers) {
                new (self) SubBlockTable(sharers_of(sharers));
            },
            "sharers"_a = 2)
        .def(
            "touch",
            [](SubBlockTable& self, std::uint64_t block, std::uint64_t thread,
               SharingCounts& counts) { self.touch(block, thread_of(thread, counts), counts); },
            "block"_a, "thread"_a, "counts"_a)
        .def("__len__", &SubBlockTable::size, "Blocks that were touched.")
        .def(
            "threads_at",
            [](const SubBlockTable& self, std::uint64_t block) {
                return present(self.threads_at(block));
            },
            "block"_a, "Latest first.");

    nb::class_<NumaTable>(module, "NumaTable", "Saturating counters of each page's nodes.")
        .def(
            "__init__",
            [](NumaTable* self, std::uint64_t nodes, std::uint64_t most, std::uint64_t pages) {
                new (self)
                    NumaTable(static_cast<std::uint32_t>(within(nodes, 4096, "nodes")),
                              static_cast<std::uint32_t>(within(most, 0xFFFFFFFF, "most")), pages);
            },
            "nodes"_a, "most"_a = 255, "pages"_a = std::uint64_t{1} << 32)
        .def(
            "count",
            [](NumaTable& self, std::uint64_t page, std::uint32_t node) {
                require(node < self.nodes(), "no such node");
                return self.count(page, node);
            },
            "page"_a, "node"_a, "Whether the page is among those that are counted.")
        .def("halve", &NumaTable::halve, "page"_a)
        .def(
            "vector_of",
            [](NumaTable& self, std::uint64_t page) {
                if (!self.knows(page)) return std::vector<std::uint32_t>(self.nodes(), 0);
                const auto found = self.vector_of(page);
                return std::vector<std::uint32_t>(found.begin(), found.end());
            },
            "page"_a)
        .def("take_seen", &NumaTable::take_seen, "most"_a = std::uint64_t{1} << 32,
             "Pages counted since they were last taken; the others stay where there are more.");

    nb::class_<PageHistory>(module, "PageHistory", "Page history table (SAMMU).")
        .def(
            "__init__",
            [](PageHistory* self, std::uint64_t pages, std::uint64_t nodes, std::uint64_t sharers,
               std::uint64_t most_counted, std::uint64_t v_add, std::uint64_t numa_threshold) {
                PageHistoryShape shape;
                shape.sharers = sharers_of(sharers);
                shape.most_counted =
                    static_cast<std::uint32_t>(within(most_counted, 0xFFFF, "most_counted"));
                shape.v_add = static_cast<std::uint32_t>(within(v_add, 0xFFFF, "v_add"));
                shape.numa_threshold =
                    static_cast<std::uint32_t>(within(numa_threshold, 0xFFFF, "numa_threshold"));
                new (self)
                    PageHistory(within(pages, 1 << 24, "pages"),
                                static_cast<std::uint32_t>(within(nodes, 64, "nodes")), shape);
            },
            "pages"_a, "nodes"_a, "sharers"_a = 2, "most_counted"_a = 15, "v_add"_a = 2,
            "numa_threshold"_a = 10)
        .def(
            "update",
            [](PageHistory& self, std::size_t page, std::uint64_t thread, std::uint32_t node,
               std::uint32_t accesses, SharingCounts& counts) {
                require(page < self.pages() && node < self.nodes(), "no such page or node");
                return self.update(page, thread_of(thread, counts), node, accesses, counts);
            },
            "page"_a, "thread"_a, "node"_a, "accesses"_a, "counts"_a,
            "Whether the accesses reached the page's threshold.")
        .def(
            "should_move",
            [](const PageHistory& self, std::size_t page, std::uint32_t home, std::uint32_t node) {
                require(page < self.pages() && node < self.nodes() && home < self.nodes(),
                        "no such page or node");
                return self.should_move(page, home, node);
            },
            "page"_a, "home"_a, "node"_a)
        .def(
            "state",
            [](const PageHistory& self, std::size_t page) {
                require(page < self.pages(), "no such page");
                const auto nc = self.numa_of(page);
                return std::tuple(self.threshold(page), present(self.sharers_of(page)),
                                  std::vector<std::uint16_t>(nc.begin(), nc.end()));
            },
            "page"_a, "AT, SV (latest first) and NC.");
    module.def("adjusted_threshold", &adjusted_threshold, "at"_a, "ac"_a,
               "Equations 1 and 2 of SAMMU.");

    nb::class_<TlbMirrors>(module, "TlbMirrors", "Copies of TLBs and their equal entries.")
        .def(
            "__init__",
            [](TlbMirrors* self, std::uint64_t cores, std::uint64_t sets) {
                new (self) TlbMirrors(within(cores, 1024, "cores"), within(sets, 1 << 16, "sets"));
            },
            "cores"_a, "sets"_a)
        .def(
            "put",
            [](TlbMirrors& self, std::size_t core, std::size_t set, std::uint64_t page,
               std::uint64_t thread) {
                require(core < self.cores() && set < self.sets(), "no such core or set");
                self.put(core, set,
                         {page, static_cast<Thread>(within(thread + 1, no_thread, "thread") - 1)});
            },
            "core"_a, "set"_a, "page"_a, "thread"_a)
        .def(
            "match",
            [](const TlbMirrors& self, std::size_t core, SharingCounts& counts) {
                require(core < self.cores(), "no such core");
                return self.match(core, counts);
            },
            "core"_a, "counts"_a, "Entries of other cores that were looked at.")
        .def("match_all", &TlbMirrors::match_all, "counts"_a);

    module.def(
        "fence", [] { std::atomic_thread_fence(std::memory_order_seq_cst); },
        "Whoever shares memory with us sees what is before as before what is after, and we them.");
}
