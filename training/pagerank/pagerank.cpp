// pagerank: ranks the pages of a web by the links to them.
//
// usage: pagerank PAGES LINKS ITERATIONS          (LINKS to a page on average; OMP_NUM_THREADS)
//
// Each iteration sums, page by page, what the pages that link here give (Brin and Page, 1998; in
// the "pull" direction). Seven links in eight come from pages near by in the numbering, as sites
// have them when addresses are sorted; the others from anywhere, more from low numbers. So the
// links are streamed, most ranks are in the cache, and some are not. Pages are shared out
// statically and every thread makes the links that it will follow.
// Check: the ranks sum to one; from iteration to iteration they change less, by the factor that
// theory gives; and those of a sample of pages are what links made anew give them.
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <new>
#include <utility>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

namespace {

constexpr double kDamping = 0.85;
constexpr uint32_t kNear = 4096;   // pages of a neighbourhood
constexpr uint32_t kParts = 1024;  // of a web that is being made

// One page in sixteen has eight times the links of the others.
uint32_t links_to(uint32_t page, uint32_t links) {
    const uint32_t weight = rng_below(1, page, 16) == 0 ? 8 : 1;
    return (weight * links * 16 + 22) / 23;
}

uint32_t source_of(uint32_t page, uint32_t pages, uint64_t link) {
    if (rng_below(2, link, 8) != 0) {
        const uint64_t near = uint64_t{page} + pages + rng_below(3, link, kNear) - kNear / 2;
        return static_cast<uint32_t>(near % pages);
    }
    const double u = rng_unit(3, link);
    return static_cast<uint32_t>(u * u * pages);
}

struct Web {
    uint32_t pages, per_part;
    std::array<uint64_t, kParts + 1> part_link;  // first link of each part
    uint64_t* first_link;                        // of each page, and behind the last
    uint32_t* source;                            // by link
    std::atomic<uint32_t>* links_from;           // how many links a page has
    double *rank, *next, *gift;                  // gift: what a page gives along each of its links

    uint32_t begin(uint32_t part) const {
        const uint64_t first = uint64_t{part} * per_part;
        return static_cast<uint32_t>(first < pages ? first : pages);
    }
};

template <typename T>
T* array_of(uint64_t count) {
    return static_cast<T*>(pages_for(sizeof(T) * count));
}

// A part's links follow those of the parts before it: counted first, then given out.
void number_links(Web& w, uint32_t links) {
#pragma omp parallel for schedule(static)
    for (uint32_t part = 0; part < kParts; ++part) {
        for (uint32_t p = w.begin(part); p < w.begin(part + 1); ++p)
            w.part_link[part + 1] += links_to(p, links);
    }
    for (uint32_t part = 0; part < kParts; ++part) w.part_link[part + 1] += w.part_link[part];
#pragma omp parallel for schedule(static)
    for (uint32_t part = 0; part < kParts; ++part) {
        uint64_t link = w.part_link[part];
        for (uint32_t p = w.begin(part); p < w.begin(part + 1); ++p) {
            w.first_link[p] = link;
            link += links_to(p, links);
            new (&w.links_from[p]) std::atomic<uint32_t>(0);
            w.rank[p] = w.next[p] = 1.0 / w.pages;
            w.gift[p] = 0.0;
        }
    }
    w.first_link[w.pages] = w.part_link[kParts];
}

Web make_web(uint32_t pages, uint32_t links) {
    Web w = {};
    w.pages = pages;
    w.per_part = pages / kParts + 1;
    w.first_link = array_of<uint64_t>(uint64_t{pages} + 1);
    w.links_from = array_of<std::atomic<uint32_t>>(pages);
    w.rank = array_of<double>(pages);
    w.next = array_of<double>(pages);
    w.gift = array_of<double>(pages);
    number_links(w, links);
    w.source = array_of<uint32_t>(w.part_link[kParts]);
#pragma omp parallel for schedule(static)
    for (uint32_t page = 0; page < pages; ++page) {
        for (uint64_t l = w.first_link[page]; l < w.first_link[page + 1]; ++l) {
            w.source[l] = source_of(page, pages, l);
            w.links_from[w.source[l]].fetch_add(1, std::memory_order_relaxed);
        }
    }
    return w;
}

// What each page gives along a link; returns what pages without links give to all.
double give(Web& w) {
    double to_all = 0.0;
    double *const gift = w.gift, *const rank = w.rank;
    const std::atomic<uint32_t>* const links_from = w.links_from;
#pragma omp parallel for schedule(static) reduction(+ : to_all)
    for (uint32_t p = 0; p < w.pages; ++p) {
        const uint32_t links = links_from[p].load(std::memory_order_relaxed);
        gift[p] = links ? rank[p] / links : 0.0;
        if (!links) to_all += rank[p];
    }
    return to_all;
}

// Everything a page has without links to it.
double base_of(const Web& w, double to_all) {
    return (1.0 - kDamping + kDamping * to_all) / w.pages;
}

// One iteration; returns the sum of the changes' absolute values.
double iterate(Web& w, double base) {
    double change = 0.0;
    const uint64_t* const first_link = w.first_link;
    const uint32_t* const source = w.source;
    const double *const gift = w.gift, *const rank = w.rank;
    double* const next = w.next;
#pragma omp parallel for schedule(static) reduction(+ : change)
    for (uint32_t p = 0; p < w.pages; ++p) {
        double sum = 0.0;
        const uint64_t end = first_link[p + 1];
        for (uint64_t l = first_link[p]; l < end; ++l) sum += gift[source[l]];
        next[p] = base + kDamping * sum;
        change += std::fabs(next[p] - rank[p]);
    }
    std::swap(w.rank, w.next);
    return change;
}

// Largest difference, relative to the rank, of a sample of pages to what their links give. After
// the last iteration `gift` still holds what was given in it.
double worst_error(const Web& w, double base) {
    constexpr uint32_t kSamples = 10000;
    const uint32_t stride = w.pages / kSamples + 1;
    double worst = 0.0;
    for (uint32_t p = 0; p < w.pages; p += stride) {
        double sum = 0.0;
        for (uint64_t l = w.first_link[p]; l < w.first_link[p + 1]; ++l)
            sum += w.gift[source_of(p, w.pages, l)];
        worst = std::fmax(worst, std::fabs(base + kDamping * sum - w.rank[p]) / w.rank[p]);
    }
    return worst;
}

double total_rank(const Web& w) {
    double sum = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (uint32_t p = 0; p < w.pages; ++p) sum += w.rank[p];
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    const auto pages = static_cast<uint32_t>(arg_long(argc, argv, 1, "PAGES", 64, 1L << 30));
    const auto links = static_cast<uint32_t>(arg_long(argc, argv, 2, "LINKS", 1, 1000));
    const long iterations = arg_long(argc, argv, 3, "ITERATIONS", 1, 1000000);
    Web w = make_web(pages, links);
    double base = 0.0, change = 1.0;
    bool shrinks = true;

    roi_begin();
    for (long i = 0; i < iterations; ++i) {
        base = base_of(w, give(w));
        const double before = change;
        change = iterate(w, base);
        shrinks &= i == 0 || change <= kDamping * before + 1e-12;
        heartbeat();
    }
    roi_end();

    const double total = total_rank(w), error = worst_error(w, base);
    if (!shrinks || !(std::fabs(total - 1.0) < 1e-9) || !(error < 1e-9)) {
        std::printf("wrong: ranks sum to %.12g, a page is off by %.3g, changes shrink %d\n", total,
                    error, shrinks);
        return 1;
    }
    std::printf("ok pages %u links %llu change %.4g\n", pages,
                static_cast<unsigned long long>(w.part_link[kParts]), change);
    return 0;
}
