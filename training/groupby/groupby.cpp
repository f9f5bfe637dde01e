// groupby: running totals by key over a stream of records, the keys shared out among the threads.
//
// usage: groupby KEYS BATCHES RECORDS [ROUNDS [PARTITIONS]]
//        (RECORDS a partition and batch; threads: OMP_NUM_THREADS)
//
// Records arrive in batches that are partitioned by key, as after the exchange of a parallel
// database or a stream processor. Every thread owns some of the PARTITIONS (64) and keeps a hash
// table for each (open addressing), which it alone reads and writes and has filled first; the look-
// ups go anywhere in its tables, so their speed is that of the cache that holds them. The stream
// comes ROUNDS times (once), as a source that sends the same orders every day.
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

// Keys of partition p are p, p + partitions, p + 2 partitions, ...; `ranks` of them.
Record make_record(uint32_t ranks, long partitions, uint64_t number, long partition) {
    const uint32_t rank = rng_below(1, number, ranks);
    return {rank * static_cast<uint32_t>(partitions) + static_cast<uint32_t>(partition),
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

// The stream: batch by batch, in each by partition.
struct Stream {
    long batches, partitions, records, rounds;
    Record* record;

    Record* of(long batch, long partition) const {
        return record + (batch * partitions + partition) * records;
    }
};

// First key of a partition whose totals are wrong, or kNoKey.
uint32_t first_fault(const Total* table, uint32_t slots, const Stream& s, uint32_t ranks, long p) {
    std::vector<Total> expected(ranks, kNothing);
    for (long round = 0; round < s.rounds; ++round) {
        for (long b = 0; b < s.batches; ++b) {
            const Record* const record = s.of(b, p);
            for (long i = 0; i < s.records; ++i) {
                Total& total = expected[record[i].key / static_cast<uint32_t>(s.partitions)];
                total.key = record[i].key;
                total.add(record[i].value);
            }
        }
    }
    uint32_t found = 0, wanted = 0;
    for (const Total& total : expected) wanted += total.number != 0;
    for (uint32_t i = 0; i < slots; ++i) {
        const uint32_t key = table[i].key;
        if (key == kNoKey) continue;
        const uint32_t rank = key / static_cast<uint32_t>(s.partitions);
        if (rank >= ranks || !(table[i] == expected[rank])) return key;
        ++found;
    }
    return found == wanted ? kNoKey : static_cast<uint32_t>(p);
}

}  // namespace

int main(int argc, char** argv) {
    Stream s = {};
    s.partitions = arg_long_or(argc, argv, 5, "PARTITIONS", 1, 65536, 64);
    const long wanted = arg_long(argc, argv, 1, "KEYS", s.partitions, 1L << 30);
    const auto ranks = static_cast<uint32_t>(wanted / s.partitions);
    s.batches = arg_long(argc, argv, 2, "BATCHES", 1, 1000000);
    s.records = arg_long(argc, argv, 3, "RECORDS", 1, 1000000);
    s.rounds = arg_long_or(argc, argv, 4, "ROUNDS", 1, 1000000, 1);
    const auto partitions = static_cast<size_t>(s.partitions);
    Tables tables = {slots_for(ranks) - 1, nullptr};
    tables.slot = static_cast<Total*>(
        pages_for(sizeof(Total) * (size_t{tables.mask} + 1) * partitions));
    s.record = static_cast<Record*>(
        pages_for(sizeof(Record) * static_cast<size_t>(s.batches * s.records) * partitions));
#pragma omp parallel for schedule(static)
    for (long p = 0; p < s.partitions; ++p) {
        std::fill(tables.of(p), tables.of(p) + tables.mask + 1, kNothing);
        for (long b = 0; b < s.batches; ++b) {
            const long first = (b * s.partitions + p) * s.records;
            for (long i = first; i < first + s.records; ++i)
                s.record[i] = make_record(ranks, s.partitions, static_cast<uint64_t>(i), p);
        }
    }

    roi_begin();
    for (long batch = 0; batch < s.rounds * s.batches; ++batch) {
#pragma omp parallel for schedule(static)
        for (long p = 0; p < s.partitions; ++p) {
            Total* const table = tables.of(p);
            const uint32_t mask = tables.mask;
            const Record* const record = s.of(batch % s.batches, p);
            for (long i = 0; i < s.records; ++i) find(table, mask, record[i].key).add(record[i].value);
        }
        heartbeat();
    }
    roi_end();

    uint32_t fault = kNoKey;
#pragma omp parallel for schedule(dynamic) reduction(min : fault)
    for (long p = 0; p < s.partitions; ++p)
        fault = std::min(fault, first_fault(tables.of(p), tables.mask + 1, s, ranks, p));
    if (fault != kNoKey) {
        std::printf("wrong: totals of key %u\n", fault);
        return 1;
    }
    std::printf("ok keys %ld of %ld records\n", long{ranks} * s.partitions,
                s.batches * s.partitions * s.records * s.rounds);
    return 0;
}
