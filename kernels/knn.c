// Nearest neighbours by brute force: of each query, the eight points that lie nearest.
//
// usage: knn POINTS QUERIES
//
// Queries are shared out; each goes over all points, in blocks. The main thread fills the points,
// as if it read a file. Coordinates are small whole numbers, so that distances are exact. Checked,
// for up to four queries: no other point lies nearer.
#include "kernel.h"

enum { AXES = 8, NEAREST = 8, BLOCK = 512 };

static float coordinate(long point, int axis) {
    return (float)(scrambled((uint64_t)(point * AXES + axis)) % 256);
}

static float query_coordinate(long query, int axis) { return coordinate(-1 - query, axis); }

// Squares of distances of `count` points from `begin` on; the points lie axis by axis.
static void measure(const float* point, long points, long begin, long count, const float* query,
                    float* restrict distance) {
    for (long i = 0; i < count; ++i) distance[i] = 0.0F;
    for (int axis = 0; axis < AXES; ++axis) {
        const float* along = point + axis * points + begin;
        const float at = query[axis];
        for (long i = 0; i < count; ++i) distance[i] += (along[i] - at) * (along[i] - at);
    }
}

// Puts a distance in its place among the nearest, which ascend.
static void insert(float* nearest, float distance) {
    int place = NEAREST - 1;
    for (; place > 0 && nearest[place - 1] > distance; --place) nearest[place] = nearest[place - 1];
    nearest[place] = distance;
}

static void answer(const float* point, long points, long number, float* nearest) {
    float query[AXES], distance[BLOCK];
    for (int axis = 0; axis < AXES; ++axis) query[axis] = query_coordinate(number, axis);
    for (int n = 0; n < NEAREST; ++n) nearest[n] = 1e30F;
    for (long begin = 0; begin < points; begin += BLOCK) {
        const long count = points - begin < BLOCK ? points - begin : BLOCK;
        measure(point, points, begin, count, query, distance);
        for (long i = 0; i < count; ++i)
            if (distance[i] < nearest[NEAREST - 1]) insert(nearest, distance[i]);
    }
}

// Whether the nearest are: as many points lie nearer than each as are named before it, or fewer.
static int is_right(long points, long query, const float* nearest) {
    long nearer = 0, as_near = 0;
    const float last = nearest[NEAREST - 1];
    for (long p = 0; p < points; ++p) {
        float distance = 0.0F;
        for (int axis = 0; axis < AXES; ++axis) {
            const float apart = coordinate(p, axis) - query_coordinate(query, axis);
            distance += apart * apart;
        }
        nearer += distance < last;
        as_near += distance <= last;
    }
    return nearer < NEAREST && as_near >= NEAREST;
}

int main(int argc, char** argv) {
    const long points = whole(argc, argv, 1, "POINTS", NEAREST, 1L << 32);
    const long queries = whole(argc, argv, 2, "QUERIES", 1, 1L << 30);
    float* point = untouched((size_t)points * AXES * sizeof *point);
    float* nearest = untouched((size_t)queries * NEAREST * sizeof *nearest);
    for (int axis = 0; axis < AXES; ++axis)
        for (long p = 0; p < points; ++p) point[axis * points + p] = coordinate(p, axis);

    begin_region();
#pragma omp parallel for schedule(static)
    for (long q = 0; q < queries; ++q) answer(point, points, q, nearest + q * NEAREST);
    end_region();

    const long checked = queries < 4 ? queries : 4;
    long wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (long q = 0; q < checked; ++q) wrong += !is_right(points, q, nearest + q * NEAREST);
    return verdict(wrong == 0, "%ld of %ld answers differ, the first is %.0f away", wrong, checked,
                   (double)nearest[0]);
}
