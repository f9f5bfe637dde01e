// groupby: running totals by key over a stream of records, the keys shared out among the threads.
//
// usage: groupby KEYS BATCHES RECORDS          (RECORDS a partition and batch; OMP_NUM_THREADS)
//
// Records arrive in batches that are partitioned by key, as after the exchange of a parallel
// database or a stream processor. Every thread owns some of the 64 partitions and keeps a hash
// table for each (open addressing), which it alone reads and writes and has filled first; the look-
// ups go anywhere in its tables, so their speed is that of the cache that holds them.
// Check: number, sum, least and largest of every key equal those of one pass over all records
// without hash tables.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"

namespace {

constexpr long kPartitions = 64;
constexpr uint32_t kNoKey = 0xFFFFFFFFu;

struct Total {
    uint32_t key, number;
    uint64_t sum;
    uint32_t least, largest;

    void add(uint32_t value) {
        ++number;
        sum += value;
        least = std::min(least, value);
        largest = std::max(largest, value);
    }
    bool operator==(const Total& o) const {
        return key == o.key && number == o.number && sum == o.sum && least == o.least &&
               largest == o.largest;
    }
};

constexpr Total kNothing = {kNoKey, 0, 0, 0xFFFFFFFFu, 0};

struct Record {
    uint32_t key, value;
};

// Keys of partition p are p, p + 64, p + 128, ...
Record make_record(uint32_t keys, uint64_t number, long partition) {
    const uint32_t rank = rng_below(1, number, keys / kPartitions);
    return {rank * static_cast<uint32_t>(kPartitions) + static_cast<uint32_t>(partition),
            rng_below(2, number, 1000000)};
}

struct Tables {
    uint32_t mask;  // slots of a partition - 1
    Total* slot;

    Total* of(long partition) const {
        return slot + static_cast<size_t>(partition) * (size_t{mask} + 1);
    }
};

uint32_t home_of(uint32_t key) {
    key = (key ^ key >> 16) * 0x85ebca6bu;
    key = (key ^ key >> 13) * 0xc2b2ae35u;
    return key ^ key >> 16;
}

// The slot of a key, taken now if the key is new. Never full: twice as many slots as keys.
Total& find(Total* table, uint32_t mask, uint32_t key) {
    for (uint32_t s = home_of(key) & mask;; s = (s + 1) & mask) {
        if (table[s].key == key) return table[s];
        if (table[s].key == kNoKey) {
            table[s].key = key;
            return table[s];
        }
    }
}

uint32_t slots_for(uint32_t keys) {
    uint32_t slots = 16;
    while (slots < 3 * keys / 2) slots *= 2;
    return slots;
}

// First key whose totals are wrong, or kNoKey.
uint32_t first_fault(const Tables& tables, const Record* record, uint32_t keys, long batches,
                     long records) {
    std::vector<Total> expected(keys, kNothing);
    for (long i = 0; i < batches * kPartitions * records; ++i) {
        Total& total = expected[record[i].key];
        total.key = record[i].key;
        total.add(record[i].value);
    }
    uint64_t found = 0, wanted = 0;
    for (const Total& total : expected) wanted += total.number != 0;
    for (long p = 0; p < kPartitions; ++p) {
        const Total* table = tables.of(p);
        for (uint32_t s = 0; s <= tables.mask; ++s) {
            if (table[s].key == kNoKey) continue;
            if (table[s].key >= keys || !(table[s] == expected[table[s].key])) return table[s].key;
            ++found;
        }
    }
    return found == wanted ? kNoKey : static_cast<uint32_t>(found);
}

}  // namespace

int main(int argc, char** argv) {
    const long wanted = arg_long(argc, argv, 1, "KEYS", kPartitions, 1L << 30);
    const auto keys = static_cast<uint32_t>(wanted / kPartitions * kPartitions);
    const long batches = arg_long(argc, argv, 2, "BATCHES", 1, 1000000);
    const long records = arg_long(argc, argv, 3, "RECORDS", 1, 1000000);
    Tables tables = {slots_for(keys / kPartitions) - 1, nullptr};
    tables.slot = static_cast<Total*>(
        pages_for(sizeof(Total) * (size_t{tables.mask} + 1) * static_cast<size_t>(kPartitions)));
    // Batch by batch, in each by partition.
    Record* record = static_cast<Record*>(
        pages_for(sizeof(Record) * static_cast<size_t>(batches * kPartitions * records)));
#pragma omp parallel for schedule(static)
    for (long p = 0; p < kPartitions; ++p) {
        std::fill(tables.of(p), tables.of(p) + tables.mask + 1, kNothing);
        for (long b = 0; b < batches; ++b) {
            const long first = (b * kPartitions + p) * records;
            for (long i = first; i < first + records; ++i)
                record[i] = make_record(keys, static_cast<uint64_t>(i), p);
        }
    }

    roi_begin();
    for (long b = 0; b < batches; ++b) {
#pragma omp parallel for schedule(static)
        for (long p = 0; p < kPartitions; ++p) {
            Total* const table = tables.of(p);
            const uint32_t mask = tables.mask;
            const long first = (b * kPartitions + p) * records;
            for (long i = first; i < first + records; ++i) {
                const Record r = record[i];
                find(table, mask, r.key).add(r.value);
            }
        }
        heartbeat();
    }
    roi_end();

    const uint32_t fault = first_fault(tables, record, keys, batches, records);
    if (fault != kNoKey) {
        std::printf("wrong: totals of key %u\n", fault);
        return 1;
    }
    std::printf("ok keys %u of %ld records\n", keys, batches * kPartitions * records);
    return 0;
}
