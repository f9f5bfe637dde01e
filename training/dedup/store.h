/* The table of chunks seen so far: buckets with a mutex each, compared by content. */
#ifndef DEDUP_STORE_H
#define DEDUP_STORE_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One distinct content. `packed` is made by the compress stage and read by the write stage, which
 * gets to know of it through a queue; `written_as` belongs to the write stage alone. */
struct content {
    uint64_t hash;
    const uint8_t* data;
    size_t bytes;
    struct content* next;
    uint8_t* packed;
    size_t packed_bytes;
    long written_as; /* number in the archive, -1 before */
    int arrived;     /* the write stage has received the packed form */
};

struct bucket {
    pthread_mutex_t mutex;
    struct content* first;
};

struct store {
    size_t buckets;
    struct bucket* bucket;
};

enum { LEAST_BUCKETS = 4096, BYTES_PER_BUCKET = 4096 };

/* A table for so many bytes of input, so that a bucket holds about one content. */
static inline void store_init(struct store* s, size_t bytes) {
    s->buckets = LEAST_BUCKETS;
    while (s->buckets < bytes / BYTES_PER_BUCKET) s->buckets *= 2;
    s->bucket = (struct bucket*)malloc(s->buckets * sizeof *s->bucket);
    if (s->bucket == NULL) abort();
    for (size_t b = 0; b < s->buckets; ++b) {
        pthread_mutex_init(&s->bucket[b].mutex, NULL);
        s->bucket[b].first = NULL;
    }
}

static inline uint64_t content_hash(const uint8_t* data, size_t bytes) {
    uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8) {
        uint64_t word;
        memcpy(&word, data + at, sizeof word);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    for (; at < bytes; ++at) hash = (hash ^ data[at]) * 0xff51afd7ed558ccdu;
    return hash ^ hash >> 29;
}

/* The entry for this content; `*fresh` says whether it was made by this call. */
static inline struct content* store_find_or_add(struct store* s, const uint8_t* data, size_t bytes,
                                                int* fresh) {
    const uint64_t hash = content_hash(data, bytes);
    const size_t b = hash % s->buckets;
    pthread_mutex_lock(&s->bucket[b].mutex);
    struct content* c = s->bucket[b].first;
    while (c && !(c->hash == hash && c->bytes == bytes && memcmp(c->data, data, bytes) == 0))
        c = c->next;
    *fresh = c == NULL;
    if (c == NULL) {
        c = (struct content*)malloc(sizeof *c);
        if (c == NULL) abort();
        *c = (struct content){hash, data, bytes, s->bucket[b].first, NULL, 0, -1, 0};
        s->bucket[b].first = c;
    }
    pthread_mutex_unlock(&s->bucket[b].mutex);
    return c;
}

#endif
