// Measurements for probe_core.py, of the core that it runs on. Prints a line for each number: what,
// of how many, value. x86-64 with rdtscp and clflush only.
//
//   memory 0 T   a line that no cache holds takes T ticks of the time stamp counter, the timing
//                itself with it (median)
//   up K D       K neighbouring lines of a page were read upwards, and then the D lines next to
//                them were in a cache, each in at least two thirds of the pages tried
//   down K D     the same downwards
//   streams N S  of N pages that were read line by line in turns, eight lines each, the share S
//                had the eighth line farther on in a cache
//   clock 0 G    additions a nanosecond, each of which waits for the one before: GHz
//   hit 0 T      nanoseconds of a load that hits the first cache and the first TLB
//   walk P T     nanoseconds of a load from one of 96 pages that lie P pages apart, few enough for
//                their lines and page-table entries to stay in the caches
//   large P T    the same where large pages were asked for
//
// The best of some attempts counts: other programs on the core only make it slower.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

enum {
    page = 4096,
    line = 64,
    lines_of_page = page / line,
    buffer_bytes = 1 << 30,
    trials = 18,
    streams_read = 8,
    attempts = 5,
    rounds = 1500,
    loads = 8192
};

static char* buffer;
static uint32_t* pages;  // in an order that no prefetcher knows
static size_t taken;     // of `pages`; each is used once in a round of all of them

static char* next_page(void) {
    char* found = buffer + (size_t)pages[taken] * page;
    taken = (taken + 1) % (buffer_bytes / page);
    for (int l = 0; l < lines_of_page; l++) _mm_clflush(found + l * line);
    return found;
}

static void pause_for(int times) {
    for (int i = 0; i < times; i++) _mm_pause();
}

static uint64_t ticks_of(const char* address) {
    unsigned cpu;
    _mm_mfence();
    _mm_lfence();
    const uint64_t begun = __rdtscp(&cpu);
    _mm_lfence();
    (void)*(const volatile char*)address;
    const uint64_t ended = __rdtscp(&cpu);
    _mm_lfence();
    return ended - begun;
}

static void read_slowly(const char* address) {
    (void)*(const volatile char*)address;
    _mm_lfence();
    pause_for(8);  // long enough for what is fetched ahead to begin
}

static int ascending(const void* a, const void* b) {
    const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

static uint64_t memory_ticks(void) {
    static uint64_t seen[999];
    for (size_t i = 0; i < 999; i++) {
        const char* at = next_page();
        _mm_mfence();
        pause_for(50);
        (void)*(const volatile char*)(at + 32 * line);  // its translation is in the TLB
        pause_for(50);
        seen[i] = ticks_of(at + 3 * line);
    }
    qsort(seen, 999, sizeof *seen, ascending);
    return seen[499];
}

// Whether the line `ahead` beyond `count` lines that were read upwards (downwards if `way` is -1)
// had been fetched, in most pages.
static int fetched(int way, int count, int ahead, uint64_t limit) {
    const int first = way > 0 ? 4 : lines_of_page - 5;
    int found = 0;
    for (int t = 0; t < trials; t++) {
        const char* at = next_page();
        _mm_mfence();
        pause_for(500);
        for (int i = 0; i < count; i++) read_slowly(at + (first + way * i) * line);
        pause_for(100);
        found += ticks_of(at + (first + way * (count - 1 + ahead)) * line) < limit;
    }
    return 3 * found >= 2 * trials;
}

static int lines_ahead(int way, int count, uint64_t limit) {
    int most = 0;
    for (int a = 0; a < attempts; a++) {
        int ahead = 0;
        while (count + ahead < lines_of_page - 5 && fetched(way, count, ahead + 1, limit)) ahead++;
        if (ahead > most) most = ahead;
    }
    return most;
}

static double share_followed(int streams, uint64_t limit) {
    char* at[512];
    int found = 0, asked = 0;
    while (asked < 400) {
        for (int s = 0; s < streams; s++) at[s] = next_page();
        _mm_mfence();
        pause_for(500);
        for (int i = 0; i < streams_read; i++)
            for (int s = 0; s < streams; s++) read_slowly(at[s] + (4 + i) * line);
        pause_for(100);
        for (int s = 0; s < streams; s++, asked++) {
            (void)*(const volatile char*)at[s];  // its translation is in the TLB
            found += ticks_of(at[s] + (3 + 2 * streams_read) * line) < limit;
        }
    }
    return (double)found / asked;
}

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

// Time of a load in a chain through `count` places, `stride` bytes apart, in one random circle.
static double chase_ns(char* memory, size_t count, size_t stride) {
    uint32_t* next = malloc(count * sizeof *next);
    for (size_t i = 0; i < count; i++) next[i] = (uint32_t)i;
    for (size_t i = count - 1; i > 0; i--) {
        const size_t j = (size_t)rand() % i;
        const uint32_t kept = next[i];
        next[i] = next[j];
        next[j] = kept;
    }
    // Lines of all sets of the first cache, or they would not fit into it.
    const size_t shift = stride >= page ? line : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t j = next[i];
        *(void**)(memory + i * stride + i % 64 * shift) = memory + j * stride + j % 64 * shift;
    }
    free(next);
    void* at = memory;
    double best = 1e18;
    for (int r = 0; r < rounds; r++) {
        const double begun = now_ns();
        for (int i = 0; i < loads; i++) at = *(void* volatile*)at;
        const double took = (now_ns() - begun) / loads;
        if (took < best) best = took;
    }
    return at ? best : 0;
}

static double clock_ghz(void) {
    double most = 0;
    uint64_t x = 1;
    for (int r = 0; r < rounds; r++) {
        const double begun = now_ns();
        for (int i = 0; i < 100000; i++) __asm__ volatile("add $1, %0" : "+r"(x));
        const double ghz = 100000 / (now_ns() - begun);
        if (ghz > most) most = ghz;
    }
    return most;
}

static void prepare(void) {
    buffer = mmap(0, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) {
        perror("probe_core: memory");
        exit(1);
    }
    madvise(buffer, buffer_bytes, MADV_HUGEPAGE);
    const size_t count = buffer_bytes / page;
    pages = malloc(count * sizeof *pages);
    for (size_t i = 0; i < count; i++) {
        buffer[i * page] = 1;
        pages[i] = (uint32_t)i;
    }
    for (size_t i = count - 1; i > 0; i--) {
        const size_t j = (size_t)rand() % (i + 1);
        const uint32_t kept = pages[i];
        pages[i] = pages[j];
        pages[j] = kept;
    }
}

int main(void) {
    prepare();
    const uint64_t memory = memory_ticks();
    printf("memory 0 %llu\n", (unsigned long long)memory);
    static const int counts[] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 24};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        printf("up %d %d\n", counts[i], lines_ahead(1, counts[i], memory / 2));
        printf("down %d %d\n", counts[i], lines_ahead(-1, counts[i], memory / 2));
    }
    static const int many[] = {1,  2,  4,  6,  8,  10, 12, 14,  16,  18,  20, 24,
                               28, 32, 40, 48, 64, 80, 96, 128, 192, 256, 384};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        double most = 0;
        for (int a = 0; a < attempts; a++) {
            const double share = share_followed(many[i], memory / 2);
            if (share > most) most = share;
        }
        printf("streams %d %.2f\n", many[i], most);
    }
    printf("clock 0 %.3f\n", clock_ghz());
    printf("hit 0 %.4f\n", chase_ns(buffer, 96, line));
    printf("large 16 %.4f\n", chase_ns(buffer, 96, 16 * page));
    munmap(buffer, buffer_bytes);
    buffer = mmap(0, buffer_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(buffer, buffer_bytes, MADV_NOHUGEPAGE);
    // Pages a power of two apart share the few sets of the second TLB that they fall into.
    static const size_t apart[] = {16, 64, 128, 256, 512};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        printf("walk %zu %.4f\n", apart[i], chase_ns(buffer, 96, apart[i] * page));
    return 0;
}
