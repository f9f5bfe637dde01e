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
