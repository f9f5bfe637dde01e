// join: joins a table of sales to a table of articles and sums by group, query after query.
//
// usage: join ARTICLES SALES QUERIES          (threads: OMP_NUM_THREADS)
//
// All threads build one hash table of the articles (open addressing, slots claimed by
// compare-and-swap) and then only read it: the best place is one cache for all. Each query scans
// the sales, looks every article up, filters by price and adds to the thread's own histogram.
// Check: every group's sum in the last query equals one worked out from how the tables were made,
// without the hash table, and no sale missed its article.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

namespace {

constexpr uint32_t kGroups = 64;
constexpr uint32_t kEmpty = 0;

struct Slot {
    std::atomic<uint32_t> code;
    uint32_t group, price, stock;
};

struct Sale {
    uint32_t code, pieces;
};

using Histogram = std::array<uint64_t, kGroups>;

// Codes are sparse, unique and never 0: an odd multiple modulo 2^32 of number + 1.
uint32_t code_of(uint32_t article) { return (article + 1) * 2654435761u; }
uint32_t group_of(uint32_t article) { return rng_below(1, article, kGroups); }
uint32_t price_of(uint32_t article) { return 1 + rng_below(2, article, 1000); }
uint32_t article_of_sale(uint64_t sale, uint32_t articles) { return rng_below(3, sale, articles); }
uint32_t pieces_of_sale(uint64_t sale) { return 1 + rng_below(4, sale, 9); }
uint32_t price_limit(long query) { return 200 + rng_below(5, static_cast<uint64_t>(query), 700); }

class Articles {
  public:
    explicit Articles(uint32_t count) : mask_(slots_for(count) - 1) {
        slot_ = static_cast<Slot*>(pages_for(sizeof(Slot) * (size_t{mask_} + 1)));
    }

    // Both called by all threads of a team.
    void clear() {
#pragma omp for schedule(static)
        for (uint32_t s = 0; s <= mask_; ++s) new (&slot_[s].code) std::atomic<uint32_t>(kEmpty);
    }
    void insert_all(uint32_t count) {
#pragma omp for schedule(static)
        for (uint32_t article = 0; article < count; ++article) insert(article);
    }

    // The slot of a code that was inserted, or null.
    const Slot* find(uint32_t code) const {
        for (uint32_t s = hash(code) & mask_;; s = (s + 1) & mask_) {
            const uint32_t here = slot_[s].code.load(std::memory_order_relaxed);
            if (here == code) return &slot_[s];
            if (here == kEmpty) return nullptr;
        }
    }

  private:
    static uint32_t slots_for(uint32_t count) {
        uint32_t slots = 16;
        while (slots < 2 * count) slots *= 2;
        return slots;
    }

    static uint32_t hash(uint32_t code) {
        code = (code ^ code >> 16) * 0x85ebca6bu;
        return code ^ code >> 13;
    }

    void insert(uint32_t article) {
        const uint32_t code = code_of(article);
        for (uint32_t s = hash(code) & mask_;; s = (s + 1) & mask_) {
            uint32_t found = kEmpty;
            if (slot_[s].code.compare_exchange_strong(found, code, std::memory_order_relaxed)) {
                slot_[s].group = group_of(article);
                slot_[s].price = price_of(article);
                slot_[s].stock = 0;
                return;
            }
        }
    }

    uint32_t mask_;
    Slot* slot_;
};

// Revenue by group of the sales of articles up to a price; `missed` counts unknown codes.
Histogram run_query(const Articles& articles, const Sale* sale, long sales, uint32_t limit,
                    long& missed) {
    Histogram total = {};
    long unknown = 0;
#pragma omp parallel reduction(+ : unknown)
    {
        Histogram mine = {};
#pragma omp for schedule(static) nowait
        for (long i = 0; i < sales; ++i) {
            const Slot* article = articles.find(sale[i].code);
            if (article == nullptr) {
                ++unknown;
            } else if (article->price <= limit) {
                mine[article->group] += uint64_t{article->price} * sale[i].pieces;
            }
        }
#pragma omp critical
        for (uint32_t g = 0; g < kGroups; ++g) total[g] += mine[g];
    }
    missed += unknown;
    return total;
}

Histogram expected_result(uint32_t articles, long sales, uint32_t limit) {
    Histogram total = {};
    uint64_t* const sum = total.data();
#pragma omp parallel for schedule(static) reduction(+ : sum[:kGroups])
    for (long i = 0; i < sales; ++i) {
        const auto number = static_cast<uint64_t>(i);
        const uint32_t article = article_of_sale(number, articles);
        if (price_of(article) > limit) continue;
        sum[group_of(article)] += uint64_t{price_of(article)} * pieces_of_sale(number);
    }
    return total;
}

}  // namespace

int main(int argc, char** argv) {
    const auto count = static_cast<uint32_t>(arg_long(argc, argv, 1, "ARTICLES", 1, 1L << 28));
    const long sales = arg_long(argc, argv, 2, "SALES", 1, 1L << 32);
    const long queries = arg_long(argc, argv, 3, "QUERIES", 1, 100000);
    Articles articles(count);
    Sale* sale = static_cast<Sale*>(pages_for(sizeof(Sale) * static_cast<size_t>(sales)));
    // Shared out as the scans share them out.
#pragma omp parallel for schedule(static)
    for (long i = 0; i < sales; ++i) {
        const auto number = static_cast<uint64_t>(i);
        sale[i] = {code_of(article_of_sale(number, count)), pieces_of_sale(number)};
    }

    Histogram result = {};
    long missed = 0;
    roi_begin();
#pragma omp parallel
    {
        articles.clear();
        articles.insert_all(count);
    }
    for (long q = 0; q < queries; ++q) {
        result = run_query(articles, sale, sales, price_limit(q), missed);
        heartbeat();
    }
    roi_end();

    const Histogram expected = expected_result(count, sales, price_limit(queries - 1));
    uint64_t revenue = 0;
    for (const uint64_t r : result) revenue += r;
    if (missed != 0 || result != expected) {
        std::printf("wrong: revenue %llu, %ld sales without their article\n",
                    static_cast<unsigned long long>(revenue), missed);
        return 1;
    }
    std::printf("ok revenue %llu of %ld sales\n", static_cast<unsigned long long>(revenue), sales);
    return 0;
}
