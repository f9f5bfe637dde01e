// Lines of a page that were touched at one stamp are one run from the start: there are few of them
// where a program walks through memory. A line that was read after its last write is in two runs:
// one with its last touch, as read, and one with its last write. If there may not be room for all
// lines, a first pass over the pages counts lines by age, which gives the largest age. Runs are
// taken in order of addresses and sorted by age. Pages without remaining lines are freed, so that
// the time of a pass depends only on the lines touched since the last one.
#include "capture/warm/snapshot.h"

#include "capture/state/arena.h"
#include "trace/model.h"

enum {
    EXACT_AGES = 1 << 15,  // counted separately; older ones by COARSE together
    COARSE = 10,
    AGES = EXACT_AGES + (1 << (31 - COARSE)),
    DIGIT = 11,
    AHEAD = 4,  // pages whose words are fetched early
    WORDS_A_LINE = 16,
};

// A run within a page, from the highest bit: age 31, written 1, number of its page among those
// taken 20, first line of the page 6, number of lines less one 6.
typedef uint64_t entry;
enum { AGE_SHIFT = 33, WRITTEN_SHIFT = 32, PAGE_SHIFT = 12, FIRST_SHIFT = 6, SIX = 63 };
enum { MOST_PAGES = 1 << (WRITTEN_SHIFT - PAGE_SHIFT) };

typedef struct {
    uint64_t first;
    uint32_t lines, when;  // age << 1 | written
} line_run;

typedef struct {
    uint32_t now;
    uint32_t oldest;  // age
    entry *runs, *spare;
    line_run* lines;
    uint64_t* pages;
    uint32_t* starts;  // of a digit's values
    uint64_t runs_n, pages_n;
} taking;

static uint32_t place_of_age(uint32_t age) {
    return age < EXACT_AGES ? age : EXACT_AGES + ((age - EXACT_AGES) >> COARSE);
}

// Four words at once; GCC and Clang compile this for every processor.
typedef uint32_t four __attribute__((vector_size(16)));

static four four_words(const uint32_t* words) {
    four result;
    __builtin_memcpy(&result, words, sizeof result);
    return result;
}

// Moves bit i, of 16, to bit 4 i.
static uint64_t apart(uint64_t bits) {
    bits = (bits | bits << 24) & 0x000000ff000000ffull;
    bits = (bits | bits << 12) & 0x000f000f000f000full;
    bits = (bits | bits << 6) & 0x0303030303030303ull;
    return (bits | bits << 3) & 0x1111111111111111ull;
}

// The lines of a page that begin a run of lines with equal words, one bit each. Where accesses are
// random nearly all lines do, so there is no branch for lines that are alike.
static uint64_t borders_of(const uint32_t* words) {
    enum { FOUR = 4 };
    const uint32_t* const written = words + AF_PAGE_LINES;
    four borders = {0};  // bit i of lane k: line 4 i + k
    for (uint32_t i = 0; i < AF_PAGE_LINES; i += FOUR) {
        const uint32_t before = i > 0 ? i - 1 : 0;  // the first four are seen to below
        const four differ = (four)(four_words(words + i) != four_words(words + before)) |
                            (four)(four_words(written + i) != four_words(written + before));
        const uint32_t bit = 1u << i / FOUR;
        borders |= differ & (four){bit, bit, bit, bit};
    }
    uint64_t all = 0;
    for (uint32_t k = 0; k < FOUR; k++) all |= apart(borders[k]) << k;
    for (uint32_t k = 1; k < FOUR; k++) {
        const bool border = words[k] != words[k - 1] || written[k] != written[k - 1];
        all |= (uint64_t)border << k;
    }
    return all | 1;
}

// Removes the next run from the borders.
static uint32_t next_run(uint64_t* borders, uint32_t* end) {
    const uint32_t begin = (uint32_t)__builtin_ctzll(*borders);
    *borders &= *borders - 1;
    *end = *borders != 0 ? (uint32_t)__builtin_ctzll(*borders) : AF_PAGE_LINES;
    return begin;
}

// Stamp of the last write of a line that was read since; otherwise 0.
static uint32_t written_before(const uint32_t* words, uint32_t i) {
    const uint32_t written = words[AF_PAGE_LINES + i];
    return written == words[i] ? 0 : written;
}

typedef void visit(void* data, uint64_t page, uint32_t* words);

// Fetches the words of a page into the caches: pages were touched, and so have words, in another
// order than that of their addresses.
static void fetch(const uint32_t* words) {
    for (uint32_t i = 0; words != NULL && i < AF_PAGE_WORDS; i += WORDS_A_LINE)
        __builtin_prefetch(words + i);
}

// Pages ascend.
static void for_all_pages(af_recency* r, visit* each, void* data) {
    for (uint32_t i = 0; i < r->used_n; i++) {
        uint32_t** const table = r->tables[r->used[i]];
        const uint64_t first = (uint64_t)r->used[i] << AF_PAGE_TABLE_BITS;
        for (uint32_t k = 0; k < AF_PAGES_OF_TABLE; k++) {
            fetch(table[(k + AHEAD) % AF_PAGES_OF_TABLE]);
            if (table[k] != NULL) each(data, first + k, table[k]);
        }
    }
}

typedef struct {
    uint32_t now;
    uint32_t* of_age;
} counting;

static void count(void* data, uint64_t page, uint32_t* words) {
    (void)page;
    const counting* const c = data;
    for (uint64_t borders = borders_of(words); borders != 0;) {
        uint32_t end;
        const uint32_t i = next_run(&borders, &end), written = written_before(words, i);
        if (words[i] != 0) c->of_age[place_of_age(c->now - words[i])] += end - i;
        if (written != 0) c->of_age[place_of_age(c->now - written)] += end - i;
    }
}

typedef struct {
    af_recency* r;
    taking* t;
} choosing;

static void take(taking* t, uint32_t age, bool written, uint32_t first, uint32_t end) {
    t->runs[t->runs_n++] = (entry)age << AGE_SHIFT | (entry)written << WRITTEN_SHIFT |
                           t->pages_n << PAGE_SHIFT | first << FIRST_SHIFT | (end - first - 1);
}

static void choose(void* data, uint64_t page, uint32_t* words) {
    const choosing* const c = data;
    taking* const t = c->t;
    const uint64_t before = t->runs_n;
    for (uint64_t borders = borders_of(words); borders != 0;) {
        uint32_t end;
        const uint32_t i = next_run(&borders, &end), written = written_before(words, i);
        const uint32_t age = t->now - words[i];
        if (words[i] == 0) continue;
        if (age > t->oldest) {
            for (uint32_t k = i; k < end; k++) words[k] = words[AF_PAGE_LINES + k] = 0;
            continue;
        }
        take(t, age, words[AF_PAGE_LINES + i] == words[i], i, end);
        if (written != 0 && t->now - written <= t->oldest) take(t, t->now - written, true, i, end);
    }
    if (t->runs_n == before)
        af_recency_forget_page(c->r, page);
    else
        t->pages[t->pages_n++] = page;
}

// Sorts runs by age, and keeps the order of runs of one age: by digits from the last on.
static void sort(taking* t) {
    uint32_t* const starts = t->starts;
    for (int shift = AGE_SHIFT; (uint64_t)t->oldest >> (shift - AGE_SHIFT) != 0; shift += DIGIT) {
        for (int i = 0; i < 1 << DIGIT; i++) starts[i] = 0;
        for (uint64_t i = 0; i < t->runs_n; i++) starts[t->runs[i] >> shift & ((1 << DIGIT) - 1)]++;
        uint32_t sum = 0;
        for (int i = 0; i < 1 << DIGIT; i++) {
            const uint32_t n = starts[i];
            starts[i] = sum;
            sum += n;
        }
        for (uint64_t i = 0; i < t->runs_n; i++)
            t->spare[starts[t->runs[i] >> shift & ((1 << DIGIT) - 1)]++] = t->runs[i];
        entry* const sorted = t->spare;
        t->spare = t->runs;
        t->runs = sorted;
    }
}

static uint8_t* put(uint8_t* p, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *p++ = (uint8_t)(value | 0x80);
    *p++ = (uint8_t)value;
    return p;
}

// Joins runs that continue over the end of a page.
static void join(taking* t) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < t->runs_n; i++) {
        const entry e = t->runs[i];
        const uint64_t page = t->pages[e >> PAGE_SHIFT & (MOST_PAGES - 1)];
        const uint64_t first = page * AF_PAGE_LINES + (e >> FIRST_SHIFT & SIX);
        t->lines[n] = (line_run){first, (uint32_t)(e & SIX) + 1, (uint32_t)(e >> WRITTEN_SHIFT)};
        const line_run* const before = &t->lines[n - (n > 0)];
        if (n > 0 && before->when == t->lines[n].when && before->first + before->lines == first)
            t->lines[n - 1].lines += t->lines[n].lines;
        else
            n++;
    }
    t->runs_n = n;
}

static uint8_t* put_all(const taking* t, uint8_t* p) {
    const line_run* const end = t->lines + t->runs_n;
    uint64_t groups = 0;
    for (const line_run* l = t->lines; l < end; l++)
        groups += l == t->lines || l->when >> 1 != l[-1].when >> 1;
    p = put(p, groups);
    uint32_t before = 0;
    for (const line_run *l = t->lines, *next; l < end; l = next) {
        for (next = l; next < end && next->when >> 1 == l->when >> 1;) next++;
        const uint32_t stamp = t->now - (l->when >> 1);
        p = put(p, l == t->lines ? stamp : before - stamp);
        before = stamp;
        p = put(p, (uint64_t)(next - l));
        uint64_t after = 0;
        for (; l < next; l++) {
            p = put(p, af_zigzag(l->first - after));
            p = put(p, (uint64_t)l->lines << 1 | (l->when & 1));
            after = l->first + l->lines;
        }
    }
    return p;
}

// The age of the oldest lines for which there is room, and the number of lines up to that age.
static uint32_t oldest_of(const counting* c, uint64_t most, uint64_t* lines) {
    const uint32_t places = place_of_age(c->now) + 1;
    uint32_t place = 0;
    for (*lines = 0; place < places && *lines + c->of_age[place] <= most; place++)
        *lines += c->of_age[place];
    if (place == places) return c->now;
    if (place == 0) return 0;
    // Beyond EXACT_AGES a place covers several ages: this is its last one.
    const uint32_t last = place - 1;
    return last < EXACT_AGES ? last : EXACT_AGES + ((last - EXACT_AGES + 1) << COARSE) - 1;
}

// Chooses the largest age with no more than `most` lines, and counts the lines at most that old.
static bool choose_age(af_recency* r, taking* t, uint64_t most, uint64_t* lines) {
    *lines = r->pages * AF_PAGE_WORDS;
    t->oldest = t->now;
    if (*lines <= most) return true;
    counting c = {.now = t->now, .of_age = af_map(AGES * sizeof(uint32_t))};
    if (c.of_age == NULL) return false;
    for_all_pages(r, count, &c);
    t->oldest = oldest_of(&c, most, lines);
    af_unmap(c.of_age, AGES * sizeof(uint32_t));
    return true;
}

af_snapshot af_snapshot_take(af_recency* r, uint32_t now, uint64_t most) {
    enum { BYTES_A_RUN = 24 };  // a run that is a group: its stamp, runs, line and length
    af_snapshot snapshot = {0};
    taking t = {.now = now};
    uint64_t lines;
    if (most > MOST_PAGES) most = MOST_PAGES;  // each may be the only one of a page
    if (!choose_age(r, &t, most, &lines)) return snapshot;
    const uint64_t room = lines + 1;
    const size_t run_bytes = room * sizeof(entry), line_bytes = room * sizeof(line_run),
                 page_bytes = (lines + 1) * sizeof *t.pages,
                 start_bytes = (1 << DIGIT) * sizeof *t.starts;
    t.runs = af_map(run_bytes);
    t.spare = af_map(run_bytes);
    t.lines = af_map(line_bytes);
    t.pages = af_map(page_bytes);
    t.starts = af_map(start_bytes);
    snapshot.room = room * BYTES_A_RUN;
    snapshot.bytes = af_map(snapshot.room);
    if (t.runs != NULL && t.spare != NULL && t.lines != NULL && t.pages != NULL &&
        t.starts != NULL && snapshot.bytes != NULL) {
        if (lines > 0) {
            for_all_pages(r, choose, &(choosing){r, &t});
            af_recency_forget_cached(r);
            sort(&t);
            join(&t);
        }
        snapshot.size = (size_t)(put_all(&t, snapshot.bytes) - snapshot.bytes);
    } else {
        af_snapshot_end(&snapshot);
    }
    if (t.runs != NULL) af_unmap(t.runs, run_bytes);
    if (t.spare != NULL) af_unmap(t.spare, run_bytes);
    if (t.lines != NULL) af_unmap(t.lines, line_bytes);
    if (t.pages != NULL) af_unmap(t.pages, page_bytes);
    if (t.starts != NULL) af_unmap(t.starts, start_bytes);
    return snapshot;
}

void af_snapshot_end(af_snapshot* snapshot) {
    if (snapshot->bytes != NULL) af_unmap(snapshot->bytes, snapshot->room);
    *snapshot = (af_snapshot){0};
}
