"""Sampled captures: windows of a run, and what is known of it where each begins."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abstract_replay import NAMES
from workshop import Captured, Workshop

from autofinity._core import trace as core
from autofinity.model.errors import TraceError

SPACING, LENGTH = 32768, 8192
LINES = 1 << 14
WALK = rf"""
#include <pthread.h>
extern void autofinity_roi_begin(void), autofinity_roi_end(void);
static struct {{ volatile long v[8]; }} a[{LINES}] __attribute__((aligned(4096)));
int main(void) {{
    for (long i = 0; i < {LINES}; i++) a[i].v[0] = i;
    autofinity_roi_begin();
    unsigned long x = 1;
    for (long i = 0; i < 300000; i++) {{
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        long k = x >> 50;
        if (x >> 33 & 1) a[k].v[0] = i; else (void)a[k].v[0];
    }}
    autofinity_roi_end();
}}
"""
LOCKS = r"""
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long a[4][4096], sum;
static void* work(void* p) {
    volatile long* mine = a[(long)p];
    for (int r = 0; r < 40; r++) {
        pthread_mutex_lock(&m);
        for (int i = 0; i < 1500; i++) mine[i]++;
        sum++;
        pthread_mutex_unlock(&m);
        for (int i = 0; i < 500; i++) mine[i]++;
    }
    return 0;
}
int main(void) {
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
    return sum == 160 ? 0 : 1;
}
"""
BARRIERS = r"""
#include <pthread.h>
static pthread_barrier_t b;
static volatile long a[4][4096];
static void* work(void* p) {
    for (int r = 0; r < 50; r++) {
        for (int i = 0; i < 2000; i++) a[(long)p][i]++;
        pthread_barrier_wait(&b);
    }
    return 0;
}
int main(void) {
    pthread_t t[4];
    pthread_barrier_init(&b, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"""
POOL = r"""
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static volatile long a[3][4096], done;
static void* work(void* p) {
    for (int r = 0; r < 40; r++)
        for (int i = 0; i < 2000; i++) a[(long)p][i]++;
    pthread_mutex_lock(&m);
    done++;
    pthread_cond_signal(&c);
    for (;;) pthread_cond_wait(&never, &m);
}
int main(void) {
    pthread_t t;
    for (long i = 0; i < 3; i++) pthread_create(&t, 0, work, (void*)i);
    pthread_mutex_lock(&m);
    while (done < 3) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
}
"""
PIPELINE = r"""
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile long full, a[4096];
static void* make(void* p) {
    for (int r = 0; r < 100; r++) {
        for (int i = 0; i < 2000; i++) a[i]++;
        pthread_mutex_lock(&m);
        while (full) pthread_cond_wait(&c, &m);
        full = 1;
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&m);
    }
    return 0;
}
static void* take(void* p) {
    volatile long own[4096];
    for (int r = 0; r < 100; r++) {
        pthread_mutex_lock(&m);
        while (!full) pthread_cond_wait(&c, &m);
        full = 0;
        pthread_cond_broadcast(&c);
        pthread_mutex_unlock(&m);
        for (int i = 0; i < 2000; i++) own[i] = i;
    }
    return 0;
}
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, make, 0); pthread_create(&u, 0, take, 0);
    pthread_join(t, 0); pthread_join(u, 0);
}
"""
UNITS = r"""
static volatile long a[64][1024];
static void leaf(int k) { for (int i = 0; i < 1000; i++) a[k & 63][i]++; }
static void tree(int n) {
    if (n < 2) { leaf(n); return; }
    #pragma omp task
    tree(n - 1);
    tree(n - 2);
    #pragma omp taskwait
    leaf(n);
}
int main(void) {
    #pragma omp parallel for schedule(dynamic, 2)
    for (int k = 0; k < 200; k++) leaf(k);
    #pragma omp parallel
    #pragma omp single
    tree(11);
}
"""


TURNS = r"""
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long a[4096];
static void* work(void* p) {
    for (long i = 0; i < 1500000; i++) {
        pthread_mutex_lock(&m);
        a[i & 4095]++;
        pthread_mutex_unlock(&m);
    }
    return 0;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    work(0);
    pthread_join(t, 0);
}
"""
PHASE_AT, PHASE = 16 << 20, 600_000
PHASES = rf"""
#include <pthread.h>
extern void autofinity_roi_begin(void), autofinity_roi_end(void);
static struct {{ volatile long v[8]; }} a[1 << 17] __attribute__((aligned(4096)));
static void in_order(void) {{
    for (long i = 0; i < {PHASE_AT}; i++) (void)a[i >> 3 & 1023].v[i & 7];
}}
int main(void) {{
    for (long i = 0; i < 1 << 17; i++) a[i].v[0] = i;
    autofinity_roi_begin();
    in_order();
    unsigned long x = 1;
    for (long i = 0; i < {PHASE}; i++) {{
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        a[x >> 47].v[0] = i;
    }}
    in_order();
    autofinity_roi_end();
}}
"""
KINDS, KIND, LATE = 6, 1_500_000, 400_000
LATE_AT = KINDS * KIND + 8_000_000
MANY_PHASES = rf"""
#include <pthread.h>
extern void autofinity_roi_begin(void), autofinity_roi_end(void);
static struct {{ volatile long v[8]; }} a[1 << 17] __attribute__((aligned(4096)));
static void lines_of(long count, long stride, long lines) {{
    for (long i = 0; i < count; i++) (void)a[i / stride % lines].v[i & 7];
}}
int main(void) {{
    for (long i = 0; i < 1 << 17; i++) a[i].v[0] = i;
    autofinity_roi_begin();
    for (long kind = 0; kind < {KINDS}; kind++) lines_of({KIND}, 1L << kind, 64L << kind);
    lines_of(8000000, 8, 1024);
    unsigned long x = 1;
    for (long i = 0; i < {LATE}; i++) {{
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        a[x >> 47].v[0] = i;
    }}
    lines_of(8000000, 8, 1024);
    autofinity_roi_end();
}}
"""
ROUNDS = r"""
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static long missing = 4, round;
static long a[4][1 << 14];
static void meet(void) {
    pthread_mutex_lock(&m);
    long mine = round;
    if (--missing == 0) {
        missing = 4;
        round++;
        pthread_cond_broadcast(&c);
    } else {
        while (mine == round) pthread_cond_wait(&c, &m);
    }
    pthread_mutex_unlock(&m);
}
static void* work(void* p) {
    for (int r = 0; r < 40; r++) {
        for (long i = 0; i < 150000; i++) {
            a[(long)p][i & 16383]++;
            __asm__ volatile("" ::: "memory");
        }
        meet();
    }
    return 0;
}
int main(void) {
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
"""


def sampled(
    shop: Workshop,
    source: str,
    roi: str = "parallel",
    spacing: int = SPACING,
    length: int = LENGTH,
    **more: str,
) -> tuple[Captured, Any]:
    env = {
        "AUTOFINITY_CAPTURE_SAMPLE": f"{spacing},{length},1",
        "AUTOFINITY_CAPTURE_ROI": roi,
        **more,
    }
    flags = "-O1 -fopenmp" if "omp" in source else "-O1 -pthread"
    run = shop.run(source, flags=flags, env=env, replays=0)
    assert run.code == 0, run.stderr
    return run, core.read_sampled(str(run.folder))


def windows(trace: Any) -> range:
    return range(len(trace.windows["work_begin"]))


def touches(events: Any) -> Any:
    return events[events["kind"] == NAMES.index("access")]


def accesses(events: Any) -> int:
    return int(events["reads"].sum(dtype=np.int64) + events["writes"].sum(dtype=np.int64))


def pages_in_order(trace: Any, runs: slice = slice(None)) -> list[tuple[int, int]]:
    columns = (trace.pages[name][runs].tolist() for name in ("first_page", "pages", "stream"))
    return [
        (page, stream)
        for first, pages, stream in zip(*columns, strict=True)
        for page in range(first, first + pages)
    ]


def lines_of(snapshot: Any) -> dict[int, tuple[int, bool]]:
    """Line → stamp of its last touch, and whether it is known as written."""
    found: dict[int, tuple[int, bool]] = {}
    columns = (snapshot[n].tolist() for n in ("first_line", "lines", "written", "stamp"))
    for first, lines, written, stamp in zip(*columns, strict=True):
        for line in range(first, first + lines):
            newest, before = found.get(line, (stamp, False))
            found[line] = (max(newest, stamp), before or written)
    return found


@pytest.fixture(scope="module")
def walk(shop: Workshop) -> tuple[Captured, Any]:
    return sampled(shop, WALK, roi="marks")


@pytest.fixture(scope="module")
def whole(shop: Workshop) -> Captured:
    """The same run, all of it; with as long an environment, which the stack lies below."""
    as_long = {"AUTOFINITY_CAPTURE_-AMPLE": f"{SPACING},{LENGTH},1"}
    return shop.run(WALK, env={**as_long, "AUTOFINITY_CAPTURE_ROI": "marks"})


def test_totals_are_those_of_the_whole_run(walk: tuple[Captured, Any], whole: Captured) -> None:
    of_run, of_windows = whole.summary["streams"][0], walk[0].summary["streams"][0]
    for name in ("accesses", "instructions", "roi_accesses", "roi_instructions"):
        assert of_windows[name] == of_run[name] > 0
    assert walk[1].work == of_run["roi_accesses"]


def test_windows_hold_what_a_whole_capture_has_there(
    walk: tuple[Captured, Any], whole: Captured
) -> None:
    trace = walk[1]
    events = touches(whole.raw(0))
    before = np.cumsum(events["reads"].astype(int) + events["writes"])
    assert len(windows(trace)) >= 8
    for i in windows(trace):
        recorded = touches(trace.window(i)[0].events(0))
        begin, end = (int(trace.windows[f"accesses_{x}"][i, 0]) for x in ("begin", "end"))
        assert accesses(recorded) == end - begin >= LENGTH
        there = events[(before > begin) & (before <= end)]
        # A run that the cut parts is here and there.
        for field in ("value", "reads", "writes"):
            same = Counter(recorded[field].tolist()) & Counter(there[field].tolist())
            assert same.total() >= 0.99 * len(there)


def test_a_snapshot_is_what_was_touched_last(walk: tuple[Captured, Any], whole: Captured) -> None:
    trace = walk[1]
    events = touches(whole.raw(0))
    before = np.cumsum(events["reads"].astype(int) + events["writes"])
    for i in windows(trace)[::3]:
        past = events[before <= int(trace.windows["accesses_begin"][i, 0])]
        last = {line: at for at, line in enumerate(past["value"].tolist())}
        written = set(past["value"][past["writes"] > 0].tolist())
        known = lines_of(trace.window(i)[1][0])
        assert known.keys() == last.keys()
        assert {line for line, (_, was) in known.items() if was} == written
        # Which access of a basic block was the last before the cut is not recorded.
        at_cut = set(events["value"][len(past) - 20 : len(past) + 20].tolist())
        order = sorted(last.keys() - at_cut, key=last.__getitem__)
        stamps = np.array([known[line][0] for line in order])
        assert len(set(stamps.tolist())) > 3
        # A run of accesses to one line may be two where a cut emptied the buffer in between.
        assert (np.maximum.accumulate(stamps) - stamps).max() <= 1


def test_first_touches_are_those_of_the_whole_run(
    walk: tuple[Captured, Any], whole: Captured
) -> None:
    pages = list(dict.fromkeys((touches(whole.raw(0))["value"] >> 6).tolist()))
    assert pages_in_order(walk[1]) == [(page, 0) for page in pages]


def test_pages_of_a_window_are_those_touched_before_it(walk: tuple[Captured, Any]) -> None:
    trace = walk[1]
    for i in windows(trace):
        known = {line >> 6 for line in lines_of(trace.window(i)[1][0])}
        touched = pages_in_order(trace, slice(int(trace.windows["pages"][i])))
        assert {page for page, _ in touched} == known


def test_windows_lie_apart_within_the_region(walk: tuple[Captured, Any]) -> None:
    trace = walk[1]
    begin, end = trace.windows["work_begin"], trace.windows["work_end"]
    assert (begin[1:] >= end[:-1]).all()
    assert end[-1] <= trace.work
    assert (end - begin >= LENGTH).all()
    places = begin[1:].astype(int) % SPACING
    assert places.max() - places.min() > SPACING // 4  # jittered


def test_the_region_of_a_pool_whose_threads_are_never_joined_ends_with_the_program(
    shop: Workshop,
) -> None:
    run, trace = sampled(shop, POOL, roi="parallel")
    work = sum(stream["roi_accesses"] for stream in run.summary["streams"])
    assert work >= 3 * 40 * 2000 * 2
    assert trace.work == work
    assert len(windows(trace)) >= work // SPACING


def test_a_long_region_has_few_windows_more(shop: Workshop) -> None:
    _, trace = sampled(shop, WALK, "marks", spacing=8192, length=4096)
    # 300,000 accesses are 36 spacings; 32 windows and then half as many.
    assert len(windows(trace)) == pytest.approx(34, abs=3)


def balance(events: Any, opens: str, closes: str) -> Counter[int]:
    left: Counter[int] = Counter()
    for event in events:
        kind = NAMES[event["kind"]]
        if kind == opens:
            left[int(event["value"])] += 1
        elif kind == closes:
            left[int(event["value"])] -= 1
            assert left[int(event["value"])] >= 0, "it was not opened"
    return +left


@pytest.mark.parametrize(
    ("source", "opens", "closes"),
    [
        (LOCKS, "lock", "unlock"),
        (PIPELINE, "lock", "unlock"),
        (UNITS, "unit_begin", "unit_end"),
    ],
    ids=["locks", "pipeline", "units"],
)
def test_what_a_window_begins_or_ends_in_is_made_whole(
    shop: Workshop, source: str, opens: str, closes: str
) -> None:
    _, trace = sampled(shop, source, OMP_NUM_THREADS="4")
    assert len(windows(trace)) >= 4
    seen: Counter[str] = Counter()
    for i in windows(trace):
        events = trace.window(i)[0]
        for stream in range(trace.streams):
            assert not balance(events.events(stream), opens, closes)
            seen.update(NAMES[k] for k in events.events(stream)["kind"].tolist())
    assert seen[opens] > 10


def test_locks_that_exclude_each_other_are_held_by_one_thread_at_a_cut(shop: Workshop) -> None:
    _, trace = sampled(shop, LOCKS)
    held = []
    for i in windows(trace):
        events = trace.window(i)[0]
        first = [events.events(s)[:1]["kind"].tolist() for s in range(1, trace.streams)]
        held.append(sum(kind == [NAMES.index("lock")] for kind in first))
    assert max(held) >= 1


@pytest.mark.parametrize("source", [LOCKS, BARRIERS, PIPELINE], ids=["locks", "barriers", "pipe"])
def test_streams_hold_as_many_accesses_as_windows_say(shop: Workshop, source: str) -> None:
    _, trace = sampled(shop, source)
    numbers = trace.windows
    for i in windows(trace):
        events = trace.window(i)[0]
        for s in range(trace.streams):
            recorded = numbers["accesses_end"][i, s] - numbers["accesses_begin"][i, s]
            assert accesses(touches(events.events(s))) == recorded


def test_a_thread_that_sleeps_through_windows_waits_in_them(shop: Workshop) -> None:
    _, trace = sampled(shop, BARRIERS)
    # The main thread joins the others.
    numbers, middle = trace.windows, windows(trace)[2:-1]
    assert len(middle) > 3
    for i in middle:
        assert numbers["exists"][i, 0]
        assert numbers["waits"][i, 0]
        assert len(trace.window(i)[0].events(0)) == 0
        assert trace.window(i)[1][0]["stamp"].size > 0


def test_all_meetings_are_counted_and_kept_with_begin_and_end(shop: Workshop) -> None:
    run, trace = sampled(shop, BARRIERS)
    assert trace.met == 50
    met = trace.meetings["met"].tolist()
    assert met == [0, *range(1, 51), 50]
    assert (np.diff(trace.meetings["instructions"].astype(int), axis=0) >= 0).all()
    totals = [stream["instructions"] for stream in run.summary["streams"]]
    assert (trace.meetings["instructions"][-1] <= totals).all()
    assert (np.diff(trace.windows["met_begin"].astype(int)) >= 0).all()


def test_threads_run_side_by_side_in_a_window(shop: Workshop) -> None:
    _, trace = sampled(shop, BARRIERS, spacing=65536, length=32768)
    numbers = trace.windows
    for i in windows(trace)[1:]:
        work = (numbers["accesses_end"][i, 1:] - numbers["accesses_begin"][i, 1:]).astype(int)
        assert work.min() > 0
        assert work.max() - work.min() <= 3 * 8192


@pytest.mark.parametrize("wanted", ["", "1", "8192,4096", "5000,4096,1", "100000,10,1", "a,b,c"])
def test_nonsense_is_refused_with_what_was_expected(shop: Workshop, wanted: str) -> None:
    run = shop.run(WALK, env={"AUTOFINITY_CAPTURE_SAMPLE": wanted}, replays=0)
    assert run.code == 0
    if wanted:
        assert "SPACING,LENGTH,SEED" in run.stderr
        assert not (run.folder / "index.aft").exists()
    else:
        assert not core.is_sampled(str(run.folder))


def test_a_sampled_trace_is_no_whole_one_and_the_other_way_round(
    walk: tuple[Captured, Any], whole: Captured
) -> None:
    assert core.is_sampled(str(walk[0].folder))
    assert not core.is_sampled(str(whole.folder))
    with pytest.raises(TraceError, match=r"sampled trace.*--whole"):
        core.read(str(walk[0].folder))
    with pytest.raises(TraceError, match=r"whole trace.*--sampled"):
        core.read_sampled(str(whole.folder))


def test_the_digest_is_that_of_the_summary(walk: tuple[Captured, Any]) -> None:
    assert walk[1].digest == walk[0].summary["digest"]


@pytest.mark.parametrize(
    "source", [LOCKS, BARRIERS, PIPELINE, UNITS], ids=["locks", "barriers", "pipeline", "units"]
)
def test_a_skeleton_is_the_whole_run_without_its_accesses(shop: Workshop, source: str) -> None:
    run, trace = sampled(shop, source, OMP_NUM_THREADS="4")
    skeleton = trace.skeleton()
    totals = run.summary["streams"]
    assert skeleton.streams == len(totals)
    seen: Counter[str] = Counter()
    for stream, total in enumerate(totals):
        events = skeleton.events(stream)
        kinds = [NAMES[k] for k in events["kind"].tolist()]
        assert kinds[0] == "thread_begin"
        assert kinds[-1] == "thread_end"
        assert events["gap"].sum(dtype=np.int64) == total["instructions"]
        assert not balance(events, "lock", "unlock")
        assert not balance(events, "unit_begin", "unit_end")
        seen.update(kinds)
    assert seen["access"] == 0
    assert seen["roi_begin"] == 1
    assert seen["roi_end"] >= 1
    if source is LOCKS:
        assert seen["lock"] == seen["unlock"] == 4 * 40
    if source is BARRIERS:
        assert seen["barrier"] == 4 * 50
    if source is UNITS:
        assert seen["unit_begin"] > 200 / 2


def test_a_skeleton_is_marked_with_how_far_the_regions_work_had_got(shop: Workshop) -> None:
    _, trace = sampled(shop, BARRIERS)
    skeleton = trace.skeleton()
    for stream in range(1, trace.streams):
        events = skeleton.events(stream)
        marks = events["value"][(events["kind"] == NAMES.index("compute")) & (events["value"] > 0)]
        assert len(marks) > 2
        assert (np.diff(marks.astype(int)) >= trace.interval_work).all()
        assert marks[-1] <= trace.work


def test_a_run_that_waits_at_every_turn_has_no_skeleton(shop: Workshop) -> None:
    run, trace = sampled(shop, TURNS)
    assert trace.skeleton() is None
    assert not (run.folder / "skeleton").exists()
    assert len(windows(trace)) > 0


def test_a_phase_of_little_work_has_windows_of_its_own(shop: Workshop) -> None:
    # 16 M accesses in order, then 300,000 at random, 2 % of them, and 16 M in order again: windows
    # lie 1 M apart.
    _, trace = sampled(shop, PHASES, roi="marks", spacing=1 << 20, length=1 << 15)
    begin, end = trace.windows["work_begin"].astype(int), trace.windows["work_end"].astype(int)
    inside = (begin >= PHASE_AT) & (end <= PHASE_AT + PHASE)
    assert inside.sum() >= 1
    assert len(begin) < 2 * 32


def test_a_late_phase_has_a_window_though_earlier_ones_asked_for_many(shop: Workshop) -> None:
    # Windows are longer than intervals, and a phase goes on asking while its window is open.
    _, trace = sampled(shop, MANY_PHASES, roi="marks", spacing=1 << 23, length=1 << 18)
    begin, end = trace.windows["work_begin"].astype(int), trace.windows["work_end"].astype(int)
    within = np.minimum(end, LATE_AT + LATE) - np.maximum(begin, LATE_AT)
    assert within.max() >= 1 << 17


def test_threads_that_a_broadcast_wakes_are_not_overtaken(shop: Workshop) -> None:
    # A barrier made of a condition. Who leaves it late would take the mutex after those that have
    # come to the next one already, and in a replay wait for all that they did in between.
    _, trace = sampled(shop, ROUNDS, roi="parallel")
    skeleton = trace.skeleton()
    posts: dict[int, int] = {}
    awaits: list[tuple[int, int]] = []
    for stream in range(1, trace.streams):
        events = skeleton.events(stream)
        done = events["gap"].astype(int).cumsum()
        meeting = np.rint(done / (done[-1] / 40)).astype(int).tolist()
        for kind, value, at in zip(
            events["kind"].tolist(), events["value"].tolist(), meeting, strict=True
        ):
            if NAMES[kind] == "post":
                posts[value] = at
            elif NAMES[kind] == "await":
                awaits.append((value, at))
    behind = [posts[value] > at for value, at in awaits if value in posts]
    assert len(behind) > 40
    assert not any(behind)


def read_all(folder: Path) -> None:
    trace = core.read_sampled(str(folder))
    trace.skeleton()
    for i in windows(trace):
        trace.window(i)


FILES = (
    "index.aft",
    "windows.afs",
    "pages.afp",
    "warm-0000.afw",
    "stream-0000.aft",
    "skeleton/index.aft",
    "skeleton/stream-0000.aft",
)


def damaged(content: bytes) -> Sequence[bytes]:
    """Truncated at, and with a bit changed in, places all over the file."""
    rng = np.random.default_rng(1)
    places = [0, 8, 12, len(content) - 1, *rng.integers(0, len(content), 12).tolist()]
    return [content[:at] for at in places] + [
        content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :] for at in places
    ]


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_an_error_that_names_it_and_the_place(
    walk: tuple[Captured, Any], tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "trace"
    shutil.copytree(walk[0].folder, folder)
    content = (folder / name).read_bytes()
    for changed in damaged(content):
        (folder / name).write_bytes(changed)
        with pytest.raises(TraceError, match=r"\.af\w.* at offset \d+|whole trace"):
            read_all(folder)
    (folder / name).unlink()
    with pytest.raises(TraceError, match=name):
        read_all(folder)
    (folder / name).write_bytes(content)
    read_all(folder)
