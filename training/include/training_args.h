/* Command line and memory of the training programs: bad arguments and a lack of memory end the
 * program with exit code 2 and one line that names what was expected. */
#ifndef TRAINING_ARGS_H
#define TRAINING_ARGS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole-number argument number `index`, called `name`, in [low, high]. */
static inline long arg_long(int argc, char** argv, int index, const char* name, long low,
                            long high) {
    if (index >= argc) {
        fprintf(stderr, "%s: argument %d (%s) is missing: give a number from %ld to %ld\n", argv[0],
                index, name, low, high);
        exit(2);
    }
    char* end = NULL;
    const long value = strtol(argv[index], &end, 10);
    if (end == argv[index] || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "%s: %s is '%s', expected a number from %ld to %ld\n", argv[0], name,
                argv[index], low, high);
        exit(2);
    }
    return value;
}

/* The same for an argument that may be left out. */
static inline long arg_long_or(int argc, char** argv, int index, const char* name, long low,
                               long high, long otherwise) {
    return index < argc ? arg_long(argc, argv, index, name, low, high) : otherwise;
}

/* `bytes` of uninitialised memory aligned to a page; nothing is touched here, so the pages land on
 * the node of the thread that writes them first. */
static inline void* pages_for(size_t bytes) {
    const size_t page = 4096;
    void* memory = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory == NULL) {
        fprintf(stderr, "cannot allocate %zu bytes: choose a smaller input\n", bytes);
        exit(2);
    }
    return memory;
}

#endif
