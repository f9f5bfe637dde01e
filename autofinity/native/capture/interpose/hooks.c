// The C functions behind those that instrumented assembly calls (entries.c), for cases that need
// more than filling slots.
#ifdef __x86_64__
#include "capture/interpose/hooks.h"

#include "capture/interpose/after_atomics.h"
#include "capture/interpose/atomics.h"
#include "capture/interpose/blocks.h"
#include "capture/interpose/ranges.h"
#include "capture/interpose/second_lines.h"
#include "capture/interpose/volatiles.h"
#include "capture/threads/streams.h"

// Records the entries from `first` on, with calls where needed, and then the block's instructions.
void af_block_apart(const af_block_table* block, uint32_t first) {
    af_seen* const seen = af_seen_by(block);
    af_thread* t = af_self;
    if (t == NULL) t = af_attach();
    if (t == NULL) {
        seen->instructions = 0;
        return;
    }
    const uint64_t before = t->now + seen->instructions;
    seen->instructions = 0;
    for (uint32_t i = first; i < block->entries_n && af_self == t; i++) {
        const af_block_entry e = block->entries[i];
        const uintptr_t address = seen->addresses[e.slot] + (intptr_t)e.delta;
        t->now = before + e.offset;
        const unsigned reads = af_counted_reads(e.counts), writes = af_counted_writes(e.counts);
        af_count_second_line(t, address, e.size, reads + writes);
        af_accesses_apart(t, address, e.size, reads, writes);
        if (e.pointer) af_loaded_from(t, address);
    }
    t->now = before + block->instructions;
    if (t->budget < 0) af_look_around(t);
}

// An atomic instruction between af_block_event and af_event_end: it runs while its address's word
// is held.
static __thread struct {
    af_thread* t;
    const volatile void* address;
    _Atomic uint64_t* word;
    uint64_t state, old;
    seen_write seen;
    unsigned size;
    int kind, order;
    bool done;         // a compare-exchange that will change the value
    uint16_t unheard;  // nested ones that are not recorded, the last ones to begin
} atomic __attribute__((tls_model("initial-exec")));

static uint64_t value_at(const volatile void* p, unsigned size) {
    switch (size) {
        case 1:
            return __atomic_load_n((const volatile uint8_t*)p, __ATOMIC_SEQ_CST);
        case 2:
            return __atomic_load_n((const volatile uint16_t*)p, __ATOMIC_SEQ_CST);
        case 4:
            return __atomic_load_n((const volatile uint32_t*)p, __ATOMIC_SEQ_CST);
        default:
            return __atomic_load_n((const volatile uint64_t*)p, __ATOMIC_SEQ_CST);
    }
}

static void begin_atomic(const af_block_table* block, const volatile void* p, uint64_t rax) {
    const unsigned bits = block->size * 8u;
    af_thread* const t = af_here();
    if (t == NULL) {
        atomic.unheard++;
        return;
    }
    _Atomic uint64_t* const word = word_of(p, (int)bits);
    af_begin_telling(t);
    const uint64_t state = take(t, word);
    atomic.t = t;
    atomic.address = p;
    atomic.size = block->size;
    atomic.kind = block->event;
    atomic.order = block->order;
    atomic.word = word;
    atomic.state = state;
    atomic.seen = look(word, state);
    atomic.old = value_at(p, atomic.size);
    atomic.done = bits == 64 ? atomic.old == rax : ((atomic.old ^ rax) << (64 - bits)) == 0;
}

void af_event_end(void) {
    if (atomic.unheard > 0) {
        atomic.unheard--;
        return;
    }
    af_thread* const t = atomic.t;
    const volatile void* const p = atomic.address;
    const bool store = atomic.kind == AF_EVENT_STORE;
    const seen_write seen = atomic.seen;
    const uint64_t old = atomic.old;
    const int order = atomic.order;
    bool changed = true;
    if (atomic.kind == AF_EVENT_EXCHANGE) changed = value_at(p, atomic.size) != atomic.old;
    if (atomic.kind == AF_EVENT_COMPARE_EXCHANGE) changed = atomic.done;
    uint64_t state = atomic.state;
    const uint64_t posted = changed ? will_post(t, &state, store, order) : 0;
    release(t, atomic.word, state);  // from here on a signal handler's may take its place
    if (posted == 0) af_end_telling(t);
    if (store) {
        af_alone(t, p, 0, 1);
        if (posted != 0) af_event_add(t, AF_POST, posted, 0);
    } else if (changed) {
        after_change(t, p, seen, order, posted);
    } else {
        after_attempt(t, p, old, seen, order);
    }
    if (posted != 0) af_end_telling(t);
}

// Called after the program's own load: the program has seen this value, or will see it at its next
// load.
static void loaded_atomic(const af_block_table* block, const volatile void* p) {
    af_thread* const t = af_here();
    const int bits = block->size * 8;
    if (t == NULL) return;
    if (!acquires(block->order)) {
        after_relaxed_load(t, p, bits, value_at(p, block->size));
        return;
    }
    _Atomic uint64_t* const word = word_of(p, bits);
    uint64_t state, value;
    LOAD_WITH_STATE(value_at(p, block->size), word, state, value)
    after_load(t, p, value, look(word, state));
}

static void volatile_access(const af_block_table* block, void* p) {
    if (block->event == AF_EVENT_VOLATILE_READ)
        af_volatile_read(p, block->size);
    else
        af_volatile_write(p, block->size);
}

static void string_operation(const af_block_table* block, const af_saved* saved) {
    const size_t size = af_string_bytes(block, saved);
    if (af_string_reads_source(block)) af_read_range((const void*)saved->rsi, size);
    if (af_string_writes(block))
        af_write_range((void*)saved->rdi, size);
    else
        af_read_range((const void*)saved->rdi, size);
}

static void gather(af_thread* t, const af_block_table* block, const af_seen* seen) {
    for (unsigned i = 0; i < block->lanes; i++) {
        if (!af_lane_counts(block, seen, i)) continue;
        af_access_unaligned(t, af_lane_address(block, seen, i), block->size,
                            block->event == AF_EVENT_SCATTER);
    }
}

// Records the block, and then the event.
void af_block_event(const af_block_table* block, const af_saved* saved) {
    const uint32_t done = af_block_quick(block);
    if (done != UINT32_MAX) af_block_apart(block, done);
    af_seen* const seen = af_seen_by(block);
    void* const p = (void*)seen->addresses[block->slot];
    af_thread* t = NULL;
    switch (block->event) {
        case AF_EVENT_VOLATILE_READ:
        case AF_EVENT_VOLATILE_WRITE:
            volatile_access(block, p);
            break;
        case AF_EVENT_LOAD:
            loaded_atomic(block, p);
            break;
        case AF_EVENT_STORE:
        case AF_EVENT_CHANGE:
        case AF_EVENT_EXCHANGE:
        case AF_EVENT_COMPARE_EXCHANGE:
            begin_atomic(block, p, saved->rax);
            break;
        case AF_EVENT_FENCE:
            t = af_here();
            if (t != NULL) af_fence(t, block->order);
            break;
        case AF_EVENT_COPY:
        case AF_EVENT_FILL:
        case AF_EVENT_SCAN:
        case AF_EVENT_COMPARE:
            string_operation(block, saved);
            break;
        case AF_EVENT_GATHER:
        case AF_EVENT_SCATTER:
            t = af_heard();
            if (t != NULL) gather(t, block, seen);
            break;
        default:
            break;
    }
}
#endif
