/* index: look-ups and updates of accounts through a search tree larger than all caches.
 *
 * usage: index THREADS ACCOUNTS OPERATIONS
 *
 * A static tree of 16 keys a node leads to leaves with the accounts' keys and balances. Each
 * operation finds a random key (half of them are not there) or, one time in eight, moves an amount
 * between two accounts: an atomic subtraction and an addition. The upper levels of the tree are
 * shared and read by all; the leaves are touched at random: bound by latency, nearly no sharing.
 * The tree is filled by one thread.
 * Check: the number of keys found is that of the keys present, and no money was made or lost.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "autofinity_roi.h"
#include "training_args.h"
#include "training_rng.h"
#include "training_threads.h"

enum { FANOUT = 16, MAX_LEVELS = 12, START_BALANCE = 1000 };

/* One level: node n holds keys n * FANOUT ..., the least key below each child. */
struct level {
    uint64_t* key;
    long keys;
};

struct account {
    uint64_t key;
    _Atomic int64_t balance;
};

struct tree {
    int levels;
    long accounts;
    struct level level[MAX_LEVELS]; /* from the root to just above the leaves */
    struct account* leaf;
};

struct bank {
    struct tree tree; /* its shape does not change after it is built */
    int threads;
    long operations;
    long found[MAX_THREADS], present[MAX_THREADS];
};

/* Keys ascend with the number and are even; odd ones are absent. */
static uint64_t key_of(long account) {
    return 2 * ((uint64_t)account * 8 + rng_at(1, (uint64_t)account) % 8);
}

static void build(struct tree* tree, long accounts) {
    long counts[MAX_LEVELS] = {(accounts + FANOUT - 1) / FANOUT};
    int levels = 1;
    for (; counts[levels - 1] > 1; ++levels)
        counts[levels] = (counts[levels - 1] + FANOUT - 1) / FANOUT;
    struct account* leaf = pages_for((size_t)accounts * sizeof *leaf);
    for (long a = 0; a < accounts; ++a) {
        leaf[a].key = key_of(a);
        atomic_init(&leaf[a].balance, START_BALANCE);
    }
    long step = FANOUT;
    for (int l = 0; l < levels; ++l, step *= FANOUT) {
        uint64_t* key = pages_for((size_t)counts[l] * sizeof *key);
        for (long k = 0; k < counts[l]; ++k) key[k] = leaf[k * step].key;
        tree->level[levels - 1 - l] = (struct level){key, counts[l]};
    }
    tree->levels = levels;
    tree->accounts = accounts;
    tree->leaf = leaf;
}

static long smaller(long a, long b) { return a < b ? a : b; }

/* The account with this key, or NULL. */
static struct account* find(const struct tree* tree, uint64_t key) {
    long node = 0;
    for (int l = 0; l < tree->levels; ++l) {
        const uint64_t* keys = tree->level[l].key;
        long low = node * FANOUT, high = smaller(low + FANOUT, tree->level[l].keys);
        while (high - low > 1) { /* the last child whose least key is not above */
            const long middle = low + (high - low) / 2;
            if (keys[middle] <= key)
                low = middle;
            else
                high = middle;
        }
        node = low;
    }
    long low = node * FANOUT, high = smaller(low + FANOUT, tree->accounts);
    while (high - low > 1) {
        const long middle = low + (high - low) / 2;
        if (tree->leaf[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    return tree->leaf[low].key == key ? &tree->leaf[low] : NULL;
}

/* Moves an amount between two accounts; says how many of the two exist. */
static int transfer(const struct tree* tree, uint64_t from, uint64_t to, int64_t amount) {
    struct account *first = find(tree, from), *second = find(tree, to);
    if (first != NULL && second != NULL) {
        atomic_fetch_sub_explicit(&first->balance, amount, memory_order_relaxed);
        atomic_fetch_add_explicit(&second->balance, amount, memory_order_relaxed);
    }
    return (first != NULL) + (second != NULL);
}

static void work(int thread, void* shared) {
    struct bank* bank = shared;
    const struct tree* tree = &bank->tree;
    const uint32_t accounts = (uint32_t)tree->accounts;
    const long end = share_begin(bank->operations, thread + 1, bank->threads);
    long found = 0, present = 0;
    for (long op = share_begin(bank->operations, thread, bank->threads); op < end; ++op) {
        const uint64_t draw = (uint64_t)op, kind = rng_at(2, draw);
        const uint64_t key = key_of((long)rng_below(3, draw, accounts));
        if (kind % 8 == 0) {
            const uint64_t other = key_of((long)rng_below(4, draw, accounts));
            found += transfer(tree, key, other, (int64_t)(kind >> 8) % 100);
            present += 2;
        } else {
            const uint64_t absent = kind >> 8 & 1;
            found += find(tree, key | absent) != NULL;
            present += absent == 0;
        }
        if (op % 4096 == 0) heartbeat();
    }
    bank->found[thread] = found;
    bank->present[thread] = present;
}

int main(int argc, char** argv) {
    static struct bank bank;
    bank.threads = (int)arg_long(argc, argv, 1, "THREADS", 1, MAX_THREADS);
    const long accounts = arg_long(argc, argv, 2, "ACCOUNTS", 1, 1L << 31);
    bank.operations = arg_long(argc, argv, 3, "OPERATIONS", 1, 1L << 40);
    build(&bank.tree, accounts);

    roi_begin();
    run_threads(bank.threads, work, &bank);
    roi_end();

    long found = 0, present = 0;
    int64_t money = 0;
    for (int t = 0; t < bank.threads; ++t) {
        found += bank.found[t];
        present += bank.present[t];
    }
    const struct account* leaf = bank.tree.leaf;
    for (long a = 0; a < accounts; ++a)
        money += atomic_load_explicit(&leaf[a].balance, memory_order_relaxed);
    if (found != present || money != (int64_t)accounts * START_BALANCE) {
        printf("wrong: %ld keys found of %ld, %lld money in %ld accounts\n", found, present,
               (long long)money, accounts);
        return 1;
    }
    printf("ok found %ld in %ld accounts\n", found, accounts);
    return 0;
}
