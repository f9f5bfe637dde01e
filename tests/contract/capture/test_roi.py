"""The region of interest of a capture: by marks, the parallel part, or all of it."""

import pytest
from workshop import Workshop

ROI = r"""
#include <pthread.h>
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
extern void autofinity_heartbeat(void) __attribute__((weak));
static volatile long a[1000];
static void touch(int n) { for (int i = 0; i < n; i++) a[i] = i; }
static void* work(void* p) { touch(300); return 0; }
int main(void) {
    touch(100);
    if (autofinity_roi_begin) autofinity_roi_begin();
    pthread_t t; pthread_create(&t, 0, work, 0);
    touch(200);
    pthread_join(t, 0);
    if (autofinity_heartbeat) autofinity_heartbeat();
    if (autofinity_roi_end) autofinity_roi_end();
    pthread_create(&t, 0, work, 0); pthread_join(t, 0);
    touch(50);
}
"""


@pytest.mark.parametrize(
    ("region", "of_main", "of_worker", "of_late_worker"),
    [("marks", 200, 300, 0), ("parallel", 200, 300, 300), ("whole", 350, 300, 300)],
)
def test_accesses_of_all_threads_count_within_the_region(
    shop: Workshop, region: str, of_main: int, of_worker: int, of_late_worker: int
) -> None:
    run = shop.run(ROI, env={"AUTOFINITY_CAPTURE_ROI": region})
    main, *workers = [stream["roi_accesses"] for stream in run.summary["streams"]]
    stack = 35  # calls, and what handles the threads
    assert of_main <= main <= of_main + stack
    assert of_worker <= workers[0] <= of_worker + stack
    assert of_late_worker <= workers[1] <= (of_late_worker + stack if of_late_worker else 0)


@pytest.mark.parametrize(
    ("region", "expected"),
    [("marks", ["roi_begin", "heartbeat", "roi_end"]), ("parallel", ["roi_begin", "roi_end"])],
)
def test_the_region_begins_and_ends_once(shop: Workshop, region: str, expected: list[str]) -> None:
    run = shop.run(ROI, env={"AUTOFINITY_CAPTURE_ROI": region})
    assert [kind for kind, _, _ in run.events(0, *expected)] == expected
    assert run.events(0, "heartbeat") == [("heartbeat", 1, 0)]


POOL = r"""
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static volatile long a[5000], done;
static void* early(void* p) { for (int i = 0; i < 300; i++) a[i] = i; return 0; }
static void* pool(void* p) {
    for (int i = 0; i < WORK; i++) a[i] = i;
    pthread_mutex_lock(&m);
    done++;
    pthread_cond_signal(&c);
    for (;;) pthread_cond_wait(&never, &m);
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, early, 0); pthread_join(t, 0);
    pthread_create(&t, 0, pool, 0);
    pthread_mutex_lock(&m);
    while (!done) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
}
"""


@pytest.mark.parametrize(("work", "counts"), [(5000, True), (20, False)])
def test_a_pool_that_is_never_joined_is_in_the_region_where_it_does_most_of_the_work(
    shop: Workshop, work: int, counts: bool
) -> None:
    source = f"#define WORK {work}\n{POOL}"
    run = shop.run(source, env={"AUTOFINITY_CAPTURE_ROI": "parallel"})
    _, early, pool = [stream["roi_accesses"] for stream in run.summary["streams"]]
    assert early >= 300
    assert (pool >= work) is counts
