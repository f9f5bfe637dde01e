// A program whose pages are moved: reads its memory, and prints the reads of each millisecond.
//   page_moves MIB SECONDS random|in-order|hold     hold: memory alone, until the end of its input
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE_WORDS = 512, LINE_WORDS = 8, READS = 256, NS_PER_MS = 1000000, MOST_MS = 60000 };

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int main(int count, char** words) {
    if (count != 4) return 2;
    size_t bytes = (size_t)atol(words[1]) << 20, all = bytes / sizeof(uint64_t);
    int random = strcmp(words[3], "random") == 0;
    int most_ms = (int)(atof(words[2]) * 1000);
    if (most_ms > MOST_MS) most_ms = MOST_MS;
    volatile uint64_t* data =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return 1;
    madvise((void*)data, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < all; i += PAGE_WORDS) data[i] = i;
    puts("ready");
    fflush(stdout);
    if (strcmp(words[3], "hold") == 0) {
        while (getchar() != EOF) {
        }
        return 0;
    }
    static int64_t at_ns[MOST_MS];
    static long reads[MOST_MS];
    uint64_t next = 88172645463325252u;
    size_t line = 0;
    long done = 0;
    int64_t begin_ns = now_ns(), last_ns = begin_ns;
    int looks = 0;
    while (looks < most_ms && last_ns < begin_ns + (int64_t)most_ms * NS_PER_MS) {
        for (int i = 0; i < READS; i++) {
            next ^= next << 13, next ^= next >> 7, next ^= next << 17;  // xorshift64
            line = (line + LINE_WORDS) % all;
            (void)data[random ? next % all : line];
        }
        done += READS;
        int64_t at = now_ns();
        if (at - last_ns < NS_PER_MS) continue;
        at_ns[looks] = last_ns = at;
        reads[looks++] = done;
        done = 0;
    }
    for (int i = 0; i < looks; i++) printf("%lld %ld\n", (long long)at_ns[i], reads[i]);
    return 0;
}
