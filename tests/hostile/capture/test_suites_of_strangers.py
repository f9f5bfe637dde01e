"""Suites as strangers write them: each is built, run and recorded as it says, or refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from told import Told

from autofinity.capture import ways
from autofinity.capture.build import Built, build_program
from autofinity.capture.compilers import Compilers
from autofinity.capture.suite_capture import CaptureReport, capture_suite
from autofinity.model.errors import CaptureError, SuiteError, UsageError
from autofinity.trace.manifest import Suite, load_suite
from autofinity.workflow.capture import capture_traces

pytestmark = pytest.mark.any_user

HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
HEAD = '[suite]\nname = "strange"\n'


def suite_of(folder: Path, body: str, **files: str) -> Suite:
    """A suite of one program `p` whose table is `body`; a file by each name, `_` for the dot."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("_", ".", 1)).write_text(content)
    (folder / "suite.toml").write_text(
        f'{HEAD}[programs.p]\n{body}\nroi = "whole"\ninputs = {{ tiny = "" }}\n'
    )
    return load_suite(folder / "suite.toml")


BUILD = 'build = "{cc} {cflags} -O1 -pthread -o {out}/p {dir}/p.c {ldflags}"\n'
RUN = 'run = ["{out}/p"]\n'


def built(suite: Suite, cache: Path) -> Built:
    return build_program(suite, suite.programs["p"], Compilers.find(os.environ), cache)


def test_a_script_that_holds_the_path_of_the_build_runs_what_was_built(tmp_path: Path) -> None:
    line = "printf '#!/bin/sh\\\\nexec {out}/p\\\\n' > {out}/start && chmod +x {out}/start"
    body = BUILD.replace('build = "', 'build = ["').rstrip() + f', "{line}"]\n'
    suite = suite_of(tmp_path / "s", body + 'run = ["{out}/start"]\nexpect = "hello"', p_c=HELLO)
    (meta,) = capture_suite(suite, (), 1, "tiny", tmp_path / "traces")
    assert meta.accesses > 0


@pytest.mark.parametrize("way", ["code", "blocks"])
def test_instructions_are_counted_for_whatever_of_the_build_is_executed(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "blocks":
        if shutil.which("objdump") is None:
            pytest.skip("no objdump")
        monkeypatch.setattr(ways, "_assembly_can_be_instrumented", lambda *_: False)
    build = 'build = "mkdir {out}/bin && {cc} {cflags} -O1 -o {out}/bin/p {dir}/p.c {ldflags}"\n'
    run = 'run = ["sh", "-c", "exec {out}/bin/p"]\n'
    source = HELLO.replace("puts", "for (volatile int i = 0; i < 10000; i++) {} puts")
    suite = suite_of(tmp_path / "s", build + run, p_c=source)
    (meta,) = capture_suite(suite, (), 1, "tiny", tmp_path / "traces")
    assert meta.instructions == ("counted" if way == "code" else "approximated")
    assert 30_000 < sum(stream.instructions for stream in meta.streams) < 120_000


def test_a_file_whose_name_is_no_utf_8_is_a_source_like_any_other(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path / "s", BUILD.replace("{dir}/p.c", "-I {dir} {dir}/p.c") + RUN, p_c=HELLO
    )
    odd = os.fsencode(tmp_path / "s") + b"/caf\xe9.h"
    Path(os.fsdecode(odd)).write_text("")
    first = built(suite, tmp_path / "b")
    assert built(suite, tmp_path / "b").digest == first.digest
    Path(os.fsdecode(odd)).write_text("\n")
    assert built(suite, tmp_path / "b").digest != first.digest


@pytest.mark.parametrize(
    "line",
    [
        "{cc} {cflags} -I {dir} -o {out}/p {dir}/p.c {ldflags}",
        "{cc} {cflags} -o {out}/p p.c {ldflags}",
        "{cc} {cflags} -c -o p.o p.c && {cc} -o {out}/p p.o {ldflags}",
    ],
)
def test_what_captures_and_builds_write_beside_the_manifest_is_no_source_of_it(
    tmp_path: Path, line: str
) -> None:
    suite = suite_of(tmp_path / "s", f'build = "{line}"\n' + RUN, p_c=HELLO)
    out = suite.folder / "traces"
    (first,) = capture_suite(suite, (), 1, "tiny", out)
    stamp = (first.path / "meta.json").stat().st_mtime_ns
    (again,) = capture_suite(suite, (), 1, "tiny", out)
    assert again.key == first.key
    assert (again.path / "meta.json").stat().st_mtime_ns == stamp
    (suite.folder / "p.c").write_text(HELLO + "\n")
    (changed,) = capture_suite(suite, (), 1, "tiny", out)
    assert changed.key != first.key


def test_sources_that_the_manifest_lists_are_all_that_a_build_depends_on(tmp_path: Path) -> None:
    body = 'sources = ["*.c"]\n' + BUILD.replace("{dir}/p.c", "-I {dir} {dir}/p.c") + RUN
    suite = suite_of(tmp_path / "s", body, p_c=HELLO, notes_txt="one")
    first = built(suite, tmp_path / "b")
    (suite.folder / "notes.txt").write_text("two")
    assert built(suite, tmp_path / "b").digest == first.digest
    (suite.folder / "p.c").write_text(HELLO + "\n")
    assert built(suite, tmp_path / "b").digest != first.digest
    none = suite_of(tmp_path / "s", body.replace("*.c", "*.f"))
    with pytest.raises(SuiteError, match=r"no file beside its manifest matches its source '\*\.f'"):
        built(none, tmp_path / "b")


READS = r"""
#include <stdio.h>
int main(void) {
    int sum = 0, n;
    while (scanf("%d", &n) == 1) sum += n;
    FILE* beside = fopen("beside.txt", "r");
    printf("sum %d %s\n", sum, beside ? "beside" : "elsewhere");
    return 0;
}
"""


def test_standard_input_and_folder_of_a_run_are_those_of_the_manifest(tmp_path: Path) -> None:
    extra = 'stdin = "numbers.txt"\ncwd = "{dir}"\nexpect = "^sum 42 beside$"\n'
    files = {"p_c": READS, "numbers_txt": "40 2\n", "beside_txt": ""}
    suite = suite_of(tmp_path / "s", BUILD + RUN + extra, **files)
    (meta,) = capture_suite(suite, (), 1, "tiny", tmp_path / "traces")
    assert meta.instructions == "counted"
    (suite.folder / "numbers.txt").write_text("40 2 0\n")
    (other,) = capture_suite(suite, (), 1, "tiny", tmp_path / "traces")
    assert other.key != meta.key
    own = suite_of(
        tmp_path / "s", BUILD + RUN + 'stdin = "{dir}/numbers.txt"\nexpect = "elsewhere"'
    )
    capture_suite(own, (), 1, "tiny", tmp_path / "traces")
    with pytest.raises(SuiteError, match=r"its stdin .*nowhere is no file"):
        none = suite_of(tmp_path / "s", BUILD + RUN + 'stdin = "nowhere"\n')
        capture_suite(none, (), 1, "tiny", tmp_path / "traces")
    with pytest.raises(SuiteError, match=r"its cwd .*nowhere is no folder"):
        none = suite_of(tmp_path / "s", BUILD + RUN + 'cwd = "nowhere"\n')
        capture_suite(none, (), 1, "tiny", tmp_path / "traces")


PARSEC = r"""
#include <stdio.h>
void __parsec_bench_begin(int); void __parsec_bench_end(void);
void __parsec_roi_begin(void); void __parsec_roi_end(void);
static volatile int x[64];
int main(void) {
    __parsec_bench_begin(7);
    __parsec_roi_begin();
    for (int i = 0; i < 1000; i++) x[i % 64]++;
    __parsec_roi_end();
    __parsec_bench_end();
    return 0;
}
"""
HOOKS = r"""
#include <stdio.h>
void __parsec_bench_begin(int b) { printf("[HOOKS] %d\n", b); }
void __parsec_bench_end(void) { puts("[HOOKS] end"); }
void __parsec_roi_begin(void) { puts("[HOOKS] Entering ROI"); }
void __parsec_roi_end(void) { puts("[HOOKS] Leaving ROI"); }
"""


@pytest.mark.parametrize("own", [False, True], ids=["ours", "its own"])
@pytest.mark.parametrize("instrumented", [True, False])
def test_programs_that_carry_parsecs_hooks_link_and_mark_their_region(
    tmp_path: Path, own: bool, instrumented: bool
) -> None:
    build = BUILD.replace("{dir}/p.c", "{dir}/p.c" + (" {dir}/hooks.c" if own else ""))
    suite = suite_of(tmp_path / "s", build + RUN, p_c=PARSEC, hooks_c=HOOKS)
    text = (suite.folder / "suite.toml").read_text().replace('"whole"', '"marks"')
    suite.path.write_text(text)
    suite = load_suite(suite.path)
    if instrumented:
        (meta,) = capture_suite(suite, (), 1, "tiny", tmp_path / "traces")
        assert meta.roi_accesses >= 1000
        return
    spec, compilers = suite.programs["p"], Compilers.find(os.environ)
    plain = build_program(suite, spec, compilers, tmp_path / "b", instrumented=False)
    done = subprocess.run([plain.out / "p"], capture_output=True, text=True, check=True)
    assert ("[HOOKS] 7" in done.stdout) is own
    heard, told = os.pipe()
    marks = Path(ways.__file__).parents[1] / "lib" / "marks" / "libautofinity-marks.so"
    env = {**os.environ, "LD_PRELOAD": str(marks), "AUTOFINITY_MARKS": str(told)}
    subprocess.run([plain.out / "p"], env=env, pass_fds=(told,), check=True)
    os.close(told)
    with os.fdopen(heard, "rb") as marks_told:
        assert len(marks_told.read()) == 2 * 16


LEAVES = r"""
#include <sys/syscall.h>
#include <unistd.h>
int main(void) { syscall(SYS_exit_group, 0); }
"""
STATIC = "int main(void) { return 0; }\n"


@pytest.mark.parametrize(
    ("build", "source", "said"),
    [
        (BUILD, LEAVES, r"ended by a system call of its own, not by exit\(\)"),
        ('build = "{cc} -static -o {out}/p {dir}/p.c"\n', STATIC, "is statically linked"),
        ('build = "{cc} -o {out}/p {dir}/p.c"\n', STATIC, r"must pass the flags of \{cflags\}"),
    ],
    ids=["leaves", "static", "plain"],
)
def test_a_run_that_nothing_was_recorded_of_says_what_happened(
    tmp_path: Path, build: str, source: str, said: str
) -> None:
    suite = suite_of(tmp_path / "s", build + RUN, p_c=source)
    with pytest.raises(CaptureError, match=f"p ran, but nothing was recorded; .*{said}"):
        capture_suite(suite, (), 1, "tiny", tmp_path / "traces")


def test_a_go_program_is_told_that_its_threads_are_its_own(tmp_path: Path) -> None:
    go = 'const char note[] __attribute__((section(".note.go.buildid"), used)) = "go";\n'
    build = 'build = "{cc} -static -o {out}/p {dir}/p.c"\n'
    suite = suite_of(tmp_path / "s", build + RUN, p_c=go + STATIC)
    with pytest.raises(CaptureError, match="is a Go program, and a capture"):
        capture_suite(suite, (), 1, "tiny", tmp_path / "traces")
    from autofinity.capture.binary import _program

    program = next((tmp_path / "traces" / ".builds").glob("p-*/p"))
    with pytest.raises(UsageError, match="is a Go program, and a capture"):
        _program([str(program)], os.environ)


QUEUE = r"""
#include <mqueue.h>
#include <fcntl.h>
int main(int c, char** v) { return c > 7 ? mq_send(0, v[0], 1, 0) : 0; }
"""


def test_capture_warns_of_functions_whose_order_it_does_not_keep(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "s", BUILD.replace("{ldflags}", "{ldflags} -lrt") + RUN, p_c=QUEUE)
    said: list[CaptureReport] = []
    capture_suite(suite, (), 1, "tiny", tmp_path / "traces", said.append)
    doubts = [report.reason for report in said if report.stage == "doubt"]
    assert len(doubts) == 1
    assert (
        "p uses functions whose order a replay does not keep: mq_send (message queues" in doubts[0]
    )
    known = suite_of(tmp_path / "t", BUILD + RUN, p_c=HELLO)
    said.clear()
    capture_suite(known, (), 1, "tiny", tmp_path / "traces2", said.append)
    assert [report.stage for report in said] == ["build", "run", "done"]


def test_capture_warns_of_a_library_whose_work_is_not_in_the_trace(tmp_path: Path) -> None:
    library = "int work(int n) { int sum = 0; while (n) sum += n--; return sum; }"
    program = "int work(int); int main(int c, char** v) { (void)v; return work(c) - 1; }"

    def doubts_of(name: str, flags: str) -> list[str]:
        shared = f"{{cc}} {flags} -O0 -shared -fPIC -o {{out}}/libwork.so.1 {{dir}}/work.c"
        link = "-L{out} -l:libwork.so.1 -Wl,-rpath,{out}"
        line = f"{{cc}} {{cflags}} -o {{out}}/p {{dir}}/p.c {{ldflags}} {link}"
        body = f'build = ["{shared}", "{line}"]\n' + RUN
        suite = suite_of(tmp_path / name, body, work_c=library, p_c=program)
        said: list[CaptureReport] = []
        capture_suite(suite, (), 1, "tiny", tmp_path / f"of-{name}", said.append)
        return [report.reason for report in said if report.stage == "doubt"]

    (doubt,) = doubts_of("plain", "")
    assert doubt.startswith("p uses libwork.so.1, not built for capture: its work and its waits")
    assert doubts_of("built", "{cflags}") == []


def test_capture_says_of_a_program_with_fewer_threads_than_its_count(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "s", BUILD + RUN, p_c=HELLO)
    said: list[CaptureReport] = []
    capture_suite(suite, (), 2, "tiny", tmp_path / "traces", said.append)
    (doubt,) = [report.reason for report in said if report.stage == "doubt"]
    assert doubt.startswith("p with a thread count of 2 ran 1 thread: ")


def test_doubts_about_a_program_are_said_though_another_one_fails(tmp_path: Path) -> None:
    suite_of(tmp_path / "s", BUILD.replace("{ldflags}", "{ldflags} -lrt") + RUN, p_c=QUEUE)
    manifest = tmp_path / "s" / "suite.toml"
    fails = f'[programs.q]\n{BUILD}run = ["false"]\nroi = "whole"\ninputs = {{ tiny = "" }}\n'
    manifest.write_text(manifest.read_text() + fails)
    told = Told()
    with pytest.raises(CaptureError, match=r"q .* ended with exit code 1"):
        capture_traces(load_suite(manifest), (), 1, "tiny", tmp_path / "traces", reporter=told)
    assert told.notices[0].startswith("p uses functions whose order a replay does not keep: mq_")


CXX = r"""
#include <stdexcept>
struct Table { Table(int n) { if (n > 7) throw std::runtime_error("full"); } };
int main(int c, char**) { static Table table(c); (void)table; }
"""


def test_a_variable_of_a_function_whose_constructor_may_throw_is_no_doubt(tmp_path: Path) -> None:
    build = 'build = "{cxx} {cxxflags} -O1 -pthread -o {out}/p {dir}/p.cpp {ldflags}"\n'
    suite = suite_of(tmp_path / "s", 'language = "c++"\n' + build + RUN, p_cpp=CXX)
    said: list[CaptureReport] = []
    capture_suite(suite, (), 1, "tiny", tmp_path / "traces", said.append)
    assert [report.stage for report in said] == ["build", "run", "done"]


def test_a_run_of_more_events_than_a_replay_has_memory_for_is_refused_while_it_is_captured(
    tmp_path: Path,
) -> None:
    source = """
static volatile char x[1 << 22];
int main(void) {
    for (int r = 0; r < 20; r++) for (int i = 0; i < 1 << 22; i += 64) x[i]++;
    return 0;
}
"""
    suite = suite_of(tmp_path / "s", BUILD + RUN, p_c=source)
    with pytest.raises(CaptureError, match=r"more than 0 M events, .*capture it sampled"):
        capture_suite(suite, (), 1, "tiny", tmp_path / "traces", most_events=500_000)
    assert not (tmp_path / "traces" / "p-tiny-1t").exists()
    (meta,) = capture_suite(suite, (), 1, "tiny", tmp_path / "traces", most_events=5_000_000)
    assert sum(stream.events for stream in meta.streams) > 1_000_000


def test_what_is_executed_besides_the_build_is_said_to_be_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_assembly_can_be_instrumented", lambda *_: False)
    run = 'run = ["sh", "-c", "cp {out}/p . && exec ./p"]\n'
    source = HELLO.replace("puts", "for (volatile int i = 0; i < 10000; i++) {} puts")
    suite = suite_of(tmp_path / "s", BUILD + run, p_c=source)
    (meta,) = capture_suite(suite, (), 1, "tiny", tmp_path / "traces")
    assert meta.instructions == "estimated"
