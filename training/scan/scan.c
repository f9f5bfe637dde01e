/* scan: sums over a table of sales that is kept by columns, query after query, without an index.
 *
 * usage: scan ROWS QUERIES          (threads: OMP_NUM_THREADS)
 *
 * A query adds up the discounts given on sales of some days, of small quantities and of moderate
 * discounts (query 6 of the benchmark TPC-H), in blocks of rows without branches, as databases that
 * store columns do. All rows are read in each query and little is computed with them: as fast as
 * memory, or the caches that hold the thread's rows, can give them. Rows are shared out statically
 * and every thread fills those it will read.
 * Check: sum and number of rows of the first and the last query equal those worked out from how the
 * rows were made.
 */
#include <stdint.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

enum { BLOCK = 1024, DAYS = 2526, SPAN = 365, MOST_DISCOUNT = 10, MOST_QUANTITY = 50 };

struct sales {
    long rows, blocks;
    int32_t *day, *quantity, *discount, *cents;
};

/* Which rows: days first_day .. first_day + SPAN - 1, discounts within one of `discount`, less than
 * `quantity`. */
struct query {
    int32_t first_day, discount, quantity;
};

struct answer {
    int64_t rows, revenue; /* revenue in hundredths of cents */
};

static int32_t day_of(uint64_t row) { return (int32_t)rng_below(1, row, DAYS); }
static int32_t quantity_of(uint64_t row) { return 1 + (int32_t)rng_below(2, row, MOST_QUANTITY); }
static int32_t discount_of(uint64_t row) { return (int32_t)rng_below(3, row, MOST_DISCOUNT + 1); }
static int32_t cents_of(uint64_t row) { return 100 + (int32_t)rng_below(4, row, 10000000); }

static struct query query_of(long number) {
    const uint64_t n = (uint64_t)number;
    return (struct query){(int32_t)rng_below(5, n, DAYS - SPAN), 2 + (int32_t)rng_below(6, n, 8),
                          20 + (int32_t)rng_below(7, n, 30)};
}

static inline int wanted(struct query q, int32_t day, int32_t quantity, int32_t discount) {
    return (day >= q.first_day) & (day < q.first_day + SPAN) & (discount >= q.discount - 1) &
           (discount <= q.discount + 1) & (quantity < q.quantity);
}

/* Adds up one block of rows. Products fit 32 bits, their sum does not. */
static inline struct answer scan_block(const struct sales* s, struct query q, long first, long end) {
    const int32_t *day = s->day, *quantity = s->quantity;
    const int32_t *discount = s->discount, *cents = s->cents;
    int32_t rows = 0;
    int64_t revenue = 0;
    for (long i = first; i < end; ++i) {
        const int32_t in = wanted(q, day[i], quantity[i], discount[i]);
        rows += in;
        revenue += (cents[i] & -in) * discount[i];
    }
    return (struct answer){rows, revenue};
}

static struct answer scan(const struct sales* s, struct query q) {
    int64_t rows = 0, revenue = 0;
#pragma omp parallel for schedule(static) reduction(+ : rows, revenue)
    for (long b = 0; b < s->blocks; ++b) {
        const long end = (b + 1) * BLOCK < s->rows ? (b + 1) * BLOCK : s->rows;
        const struct answer a = scan_block(s, q, b * BLOCK, end);
        rows += a.rows;
        revenue += a.revenue;
    }
    return (struct answer){rows, revenue};
}

static struct answer expected(long count, struct query q) {
    int64_t rows = 0, revenue = 0;
#pragma omp parallel for schedule(static) reduction(+ : rows, revenue)
    for (long i = 0; i < count; ++i) {
        const uint64_t row = (uint64_t)i;
        if (!wanted(q, day_of(row), quantity_of(row), discount_of(row))) continue;
        ++rows;
        revenue += (int64_t)cents_of(row) * discount_of(row);
    }
    return (struct answer){rows, revenue};
}

static struct sales make_sales(long rows) {
    const size_t bytes = (size_t)rows * sizeof(int32_t);
    struct sales s = {rows,
                      (rows + BLOCK - 1) / BLOCK,
                      pages_for(bytes),
                      pages_for(bytes),
                      pages_for(bytes),
                      pages_for(bytes)};
#pragma omp parallel for schedule(static)
    for (long b = 0; b < s.blocks; ++b)
        for (long i = b * BLOCK; i < (b + 1) * BLOCK && i < rows; ++i) {
            s.day[i] = day_of((uint64_t)i);
            s.quantity[i] = quantity_of((uint64_t)i);
            s.discount[i] = discount_of((uint64_t)i);
            s.cents[i] = cents_of((uint64_t)i);
        }
    return s;
}

int main(int argc, char** argv) {
    const long rows = arg_long(argc, argv, 1, "ROWS", 1, 1L << 32);
    const long queries = arg_long(argc, argv, 2, "QUERIES", 1, 10000000);
    const struct sales s = make_sales(rows);
    struct answer first = {0, 0}, last = {0, 0};

    roi_begin();
    for (long n = 0; n < queries; ++n) {
        last = scan(&s, query_of(n));
        if (n == 0) first = last;
        heartbeat();
    }
    roi_end();

    const struct answer at_first = expected(rows, query_of(0));
    const struct answer at_last = expected(rows, query_of(queries - 1));
    if (first.rows != at_first.rows || first.revenue != at_first.revenue ||
        last.rows != at_last.rows || last.revenue != at_last.revenue) {
        printf("wrong: %lld and %lld rows, expected %lld and %lld\n", (long long)first.rows,
               (long long)last.rows, (long long)at_first.rows, (long long)at_last.rows);
        return 1;
    }
    printf("ok rows %lld revenue %lld\n", (long long)last.rows, (long long)last.revenue);
    return 0;
}
