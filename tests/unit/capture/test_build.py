"""Building and running suites under capture: what is kept, reused, refused, and how it is said."""

from __future__ import annotations

import json
import os
import platform
import shutil
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity._core import trace as core
from autofinity.capture import build, ways
from autofinity.capture.blocks import block_table, count_blocks
from autofinity.capture.build import build_program
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.capture.library_calls import CALL_COSTS
from autofinity.capture.request import CaptureRequest
from autofinity.capture.run import capture
from autofinity.capture.suite_capture import CaptureReport, capture_suite
from autofinity.model.errors import CaptureError, SuiteError, TraceError, UsageError
from autofinity.reporter import SILENT
from autofinity.trace.manifest import Suite, load_suite
from autofinity.trace.meta import TraceMeta, read_meta, write_meta
from autofinity.workflow.capture import capture_traces

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
static volatile long a[8][1000];
static void* work(void* p) { for (int i = 0; i < 1000; i++) a[(long)p][i] = i; return 0; }
int main(int c, char** v) {
    int n = atoi(v[1]);
    const char* how = c > 2 ? v[2] : "";
    pthread_t t[8];
    if (autofinity_roi_begin && strcmp(how, "unmarked")) autofinity_roi_begin();
    for (long i = 0; i < n; i++) pthread_create(t + i, 0, work, (void*)i);
    for (int i = 0; i < n; i++) pthread_join(t[i], 0);
    if (autofinity_roi_end) autofinity_roi_end();
    if (!strcmp(how, "crash")) abort();
    if (!strcmp(how, "fail")) { fprintf(stderr, "no luck today\n"); return 3; }
    if (!strcmp(how, "wrong")) { puts("wrong: 7"); return 0; }
    if (!strcmp(how, "hang")) pause();
    FILE* f = fopen("litter", "w"); fclose(f);
    puts("ok 1");
}
"""

MANIFEST = """
[suite]
name = "tests"
[programs.one]
language = "c"
build = ["{cc} {cflags} -O1 -pthread -o {out}/one {dir}/one.c {ldflags}"]
run = ["{out}/one", "{threads}", "{input}"]
threads = { allowed = "1-8" }
expect = "^ok "
timeout_s = 5
[programs.one.inputs]
tiny = ""
crash = "crash"
fail = "fail"
wrong = "wrong"
hang = "hang"
unmarked = "unmarked"
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "one.c").write_text(PROGRAM)
    (folder / "suite.toml").write_text(MANIFEST)
    return load_suite(folder / "suite.toml")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("builds")


@pytest.fixture
def request_for(suite: Suite, cache: Path, tmp_path: Path) -> Callable[..., CaptureRequest]:
    def make(size: str = "tiny", threads: int = 2) -> CaptureRequest:
        spec = suite.programs["one"]
        built = build_program(suite, spec, Compilers.find(os.environ), cache)
        return CaptureRequest(suite, spec, built, threads, size, tmp_path / "out")

    return make


Make = Callable[..., CaptureRequest]


def test_what_a_build_leaves_among_temporary_files_goes_with_it(
    suite: Suite, tmp_path: Path
) -> None:
    one = suite.programs["one"]
    leaving = replace(one, build=(*one.build, "mktemp > {out}/left && test -e $(cat {out}/left)"))
    built = build_program(suite, leaving, Compilers.find(os.environ), tmp_path)
    assert not Path((built.out / "left").read_text().strip()).exists()


def test_a_capture_makes_a_folder_that_tells_what_was_done(request_for: Make) -> None:
    meta = capture(request_for())
    assert meta.path.name == "one-tiny-2t"
    assert meta == read_meta(meta.path)
    assert sorted(p.name for p in meta.path.iterdir()) == [
        "index.aft",
        "meta.json",
        *(f"stream-000{i}.aft" for i in range(3)),
    ]
    trace = core.read(str(meta.path))
    assert trace.digest == meta.digest
    assert meta.accesses == trace.n_accesses
    assert meta.workers() == (1, 2)
    # Beside its stores each thread takes its return address from the stack.
    assert [s.roi_accesses for s in meta.streams][1:] == [1001, 1001]
    assert meta.instructions == "counted"
    # Three to nine instructions an iteration, whatever the compiler made of it.
    assert 3000 < meta.streams[1].instructions < 9000


def test_a_finished_trace_is_reused_and_a_damaged_one_is_not(request_for: Make) -> None:
    first = capture(request_for())
    stamp = (first.path / "meta.json").stat().st_mtime_ns
    assert capture(request_for()) == first
    assert (first.path / "meta.json").stat().st_mtime_ns == stamp
    (first.path / "index.aft").write_bytes(b"nonsense")
    again = capture(request_for())
    assert core.summary(str(again.path))["digest"] == again.digest


def test_another_thread_count_is_another_trace(request_for: Make) -> None:
    two, three = capture(request_for(threads=2)), capture(request_for(threads=3))
    assert two.path != three.path
    assert len(three.streams) == 4
    assert two.key != three.key


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("crash", r"one \(.*\) was ended by SIGABRT"),
        ("fail", r"exit code 3 .*no luck today"),
        ("wrong", r"did not print what its manifest expects, /\^ok /.*wrong: 7"),
        ("unmarked", r"never began its region of interest"),
    ],
)
def test_a_run_that_fails_is_an_error_that_says_why_and_keeps_nothing(
    request_for: Make, size: str, message: str
) -> None:
    request = request_for(size)
    with pytest.raises(CaptureError, match=message):
        capture(request)
    assert list(request.out.iterdir()) == []


def test_a_run_that_hangs_is_ended(request_for: Make) -> None:
    request = request_for("hang")
    short = replace(request, spec=replace(request.spec, timeout_s=0.05))
    with pytest.raises(CaptureError, match=r"did not end within 1 s .*timeout_s"):
        capture(short)
    assert list(request.out.iterdir()) == []


def test_a_failed_run_leaves_the_trace_that_was_there(request_for: Make) -> None:
    meta = capture(request_for())
    with pytest.raises(CaptureError):
        capture(request_for("crash"))
    assert read_meta(meta.path) == meta


def test_a_thread_count_or_size_the_program_does_not_take_is_named(request_for: Make) -> None:
    with pytest.raises(UsageError, match=r"9 threads; allowed: 1-8"):
        capture(request_for(threads=9))
    with pytest.raises(SuiteError, match=r"huge.*tiny"):
        capture(request_for("huge"))


def test_a_folder_that_cannot_be_written_is_named(request_for: Make, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file is in the way")
    with pytest.raises(CaptureError, match=r"cannot keep the trace of one in .*out"):
        capture(request_for())


def test_a_program_that_does_not_build_shows_the_compilers_last_lines(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int main(void) { return undeclared; }\n")
    (tmp_path / "suite.toml").write_text(MANIFEST)
    suite = load_suite(tmp_path / "suite.toml")
    with pytest.raises(SuiteError, match=r"(?s)one of .*does not build:\n\$ .*undeclared.*exit"):
        build_program(suite, suite.programs["one"], Compilers.find(os.environ), tmp_path / "b")
    assert [path.name for path in (tmp_path / "b").iterdir()] == [".autofinity"]


def test_a_build_is_cached_until_a_source_changes(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(PROGRAM)
    (tmp_path / "suite.toml").write_text(MANIFEST)
    suite, compilers = load_suite(tmp_path / "suite.toml"), Compilers.find(os.environ)

    def build() -> Path:
        return build_program(suite, suite.programs["one"], compilers, tmp_path / "b").out

    first = build()
    stamp = (first / "one").stat().st_mtime_ns
    assert build() == first
    assert (first / "one").stat().st_mtime_ns == stamp
    (tmp_path / "one.c").write_text(PROGRAM + "\n")
    assert build() != first


def test_each_architecture_has_builds_of_its_own_in_a_home_that_several_share(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, compilers = suite.programs["one"], Compilers.find(os.environ)
    monkeypatch.setattr(build, "vector_flags", lambda *_: "")  # as by a compiler of RHEL 8
    folders = set()
    for machine in ("x86_64", "aarch64", "ppc64le"):
        monkeypatch.setattr(platform, "machine", lambda name=machine: name)
        built = build_program(suite, program, compilers, tmp_path / "b", instrumented=False)
        folders.add(built.out)
    assert len(folders) == 3


def test_what_is_built_without_capture_has_no_trace_of_it(suite: Suite, tmp_path: Path) -> None:
    compilers = Compilers.find(os.environ)
    built = build_program(suite, suite.programs["one"], compilers, tmp_path, instrumented=False)
    assert built.blocks is None
    assert b"__tsan" not in (built.out / "one").read_bytes()


def test_a_build_that_ignores_the_flags_is_told_which_placeholders_to_use(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(PROGRAM)
    plain = MANIFEST.replace("{cflags} ", "").replace(" {ldflags}", "")
    (tmp_path / "suite.toml").write_text(plain)
    suite = load_suite(tmp_path / "suite.toml")
    with pytest.raises(CaptureError, match=r"nothing was recorded.*\{cflags\}.*\{ldflags\}"):
        capture_suite(suite, [], 2, "tiny", tmp_path / "out")


def test_compilers_come_from_the_environment_or_the_path(tmp_path: Path) -> None:
    for name in ("cc", "c++"):
        tool = tmp_path / name
        tool.write_text("#!/bin/sh\n")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    found = Compilers.find({"PATH": str(tmp_path)})
    assert (found.cc, found.cxx, found.fc) == ("cc", "c++", None)
    assert Compilers.find({"PATH": str(tmp_path), "CC": "mycc -x"}).cc == "mycc -x"
    with pytest.raises(SuiteError, match="no C and C\\+\\+ compiler"):
        Compilers.find({"PATH": ""})


def two_programs(folder: Path) -> Suite:
    (folder / "one.c").write_text(PROGRAM)
    fortran = MANIFEST.split("[programs.one]")[1].replace("programs.one", "programs.two")
    text = MANIFEST + "\n[programs.two]" + fortran.replace('"c"', '"fortran"')
    (folder / "suite.toml").write_text(text)
    return load_suite(folder / "suite.toml")


def test_fortran_without_a_compiler_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = two_programs(tmp_path)
    bare = Compilers(cc="gcc", cxx="g++", fc=None)
    assert skip_reason(suite.programs["one"], bare) is None
    monkeypatch.setattr(Compilers, "find", lambda _: bare)
    reports: list[CaptureReport] = []
    traces = capture_suite(suite, [], 2, "tiny", tmp_path / "out", reports.append)
    assert [meta.program for meta in traces] == ["one"]
    assert [(r.program, r.stage) for r in reports] == [
        ("one", "build"),
        ("one", "run"),
        ("one", "done"),
        ("two", "skipped"),
    ]
    assert "Fortran compiler" in reports[-1].reason


def test_a_fortran_compiler_that_comes_later_builds_no_c_program_again(
    suite: Suite, tmp_path: Path
) -> None:
    spec, bare = suite.programs["one"], Compilers(cc="gcc", cxx="g++", fc=None)
    before = build_program(suite, spec, bare, tmp_path / "builds")
    later = replace(bare, fc="gcc -no-such-compiler")
    assert build_program(suite, spec, later, tmp_path / "builds") == before
    uses = replace(spec, build=(*spec.build, "true {fc}"))
    assert later.used_by(uses) == ["gcc", "g++", "gcc -no-such-compiler"]


def test_a_size_that_no_program_has_is_refused_once_and_at_once(
    suite: Suite, tmp_path: Path
) -> None:
    reports: list[CaptureReport] = []
    with pytest.raises(
        UsageError, match=r"size 'huge' for these programs; expected one of tiny, crash"
    ):
        capture_suite(suite, [], 2, "huge", tmp_path / "out", reports.append)
    assert reports == []


def test_a_build_beside_the_manifest_is_said_to_leave_what_runs_only_under_capture(
    tmp_path: Path,
) -> None:
    text = MANIFEST.replace("-o {out}/one", "-o {dir}/mine")
    text = text.replace("{ldflags}", "{ldflags} && cp {dir}/mine {out}/one")
    (tmp_path / "one.c").write_text(PROGRAM)
    (tmp_path / "suite.toml").write_text(text)
    suite, out = load_suite(tmp_path / "suite.toml"), tmp_path / "out"
    reports: list[CaptureReport] = []
    capture_suite(suite, [], 2, "tiny", out, reports.append)
    (said,) = [r.reason for r in reports if r.stage == "doubt"]
    assert "left files beside the manifest that run only under capture: mine;" in said
    reports.clear()  # what is built already leaves nothing
    capture_suite(suite, [], 2, "tiny", out, reports.append)
    assert [r.stage for r in reports] == ["build", "run", "done"]


def test_a_campaign_goes_on_past_a_failure_and_then_says_so(tmp_path: Path) -> None:
    from autofinity.cli.capture import command

    suite = two_programs(tmp_path)
    text = (tmp_path / "suite.toml").read_text().replace('"fortran"', '"c"')
    text = text.replace('[programs.one.inputs]\ntiny = ""', '[programs.one.inputs]\ntiny = "fail"')
    (tmp_path / "suite.toml").write_text(text)
    suite = load_suite(tmp_path / "suite.toml")
    with pytest.raises(CaptureError, match="no luck today"):
        capture_suite(suite, [], 2, "tiny", tmp_path / "out")
    assert read_meta(tmp_path / "out" / "two-tiny-2t").program == "two"
    kept = capture_suite(suite, [], 2, "tiny", tmp_path / "out", keep_going=True)
    assert [meta.program for meta in kept] == ["two"]
    words = ["--suite", str(suite.path), "-t", "2", "--size", "tiny", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(command, [*words, "--json"])
    assert isinstance(done.exception, CaptureError)
    assert [each["program"] for each in json.loads(done.stdout)] == ["two"]


def test_the_command_prints_one_json_document(suite: Suite, tmp_path: Path) -> None:
    from autofinity.cli.capture import command

    arguments = ["--suite", str(suite.path), "--threads", "2", "--size", "tiny", "-o"]
    done = CliRunner().invoke(command, [*arguments, str(tmp_path / "o"), "--json"])
    assert done.exit_code == 0, done.output
    (document,) = json.loads(done.stdout)
    assert document["program"] == "one"
    assert document["workers"] == [1, 2]
    unknown = CliRunner().invoke(command, [*arguments, str(tmp_path / "o"), "-p", "onee"])
    assert isinstance(unknown.exception, SuiteError)
    assert "did you mean one?" in str(unknown.exception)


def test_meta_that_is_damaged_or_missing_is_a_trace_error(
    request_for: Make, tmp_path: Path
) -> None:
    meta = capture(request_for())
    whole = (meta.path / "meta.json").read_bytes()
    for at in range(len(whole)):
        changed = whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :]
        for damaged in (whole[:at], changed):
            (meta.path / "meta.json").write_bytes(damaged)
            with pytest.raises(TraceError, match=r"meta\.json at offset \d+"):
                read_meta(meta.path)
    with pytest.raises(TraceError, match="holds no complete trace: there is no such folder"):
        read_meta(tmp_path / "nowhere")
    write_meta(meta, meta.path)
    assert read_meta(meta.path) == meta


def test_workers_are_the_busiest_streams_in_order_of_creation(request_for: Make) -> None:
    meta: TraceMeta = capture(request_for())
    busy = [replace(meta.streams[1], roi_accesses=n) for n in (5, 90, 0, 70, 80)]
    assert replace(meta, threads=3, streams=tuple(busy)).workers() == (1, 3, 4)


DISASSEMBLY = """
0000000000001000 <f>:
    1000:\tendbr64
    1004:\tpush   %rbx
    1005:\tcall   900 <__sanitizer_cov_trace_pc@plt>
    100a:\tmov    (%rsp),%rdi
    100e:\tcall   910 <__tsan_func_entry@plt>
    1013:\tlea    0x8(%rbx),%rdi
    1017:\tcall   920 <__tsan_read8@plt>
    101c:\tmov    0x8(%rbx),%rax
    1020:\tnopw   0x0(%rax,%rax,1)
    1026:\tadd    $0x1,%rax
    102a:\tjne    1050 <f+0x50>
    102c:\tcall   930 <exp@plt>
    1031:\tjmp    1040 <f+0x40>
    1033:\tcall   900 <__sanitizer_cov_trace_pc@plt>
    1038:\tret
    1039:\tnop
    1040:\tmov    %rax,%rbx
    1043:\tcall   900 <__sanitizer_cov_trace_pc@plt>
    1048:\tmov    $0x5,%edx
    104d:\tmov    %rbx,%rdi
    1050:\tcall   940 <__tsan_atomic64_fetch_add@plt>
    1055:\tret
"""


def test_blocks_count_the_programs_instructions_and_not_the_instrumentations() -> None:
    counts = count_blocks(DISASSEMBLY)
    # mov add jne call(exp) jmp mov, and what exp costs; the arguments of the hooks are not there.
    assert counts[0x100A] == 6 + CALL_COSTS["exp"].instructions
    assert counts[0x1038] == 1
    assert counts[0x1048] == 2  # the atomic itself and ret


@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump")
def test_a_binary_without_hooks_has_no_block_table() -> None:
    assert block_table(Path("/bin/true")) is None


def test_a_program_that_is_built_the_next_best_way_says_so(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ways, "_assembly_can_be_instrumented", lambda *_: False)
    said: list[str] = []

    class Listener(type(SILENT)):  # type: ignore[misc]
        def notice(self, message: str) -> None:
            said.append(message)

    (meta,) = capture_traces(suite, ("one",), 2, "tiny", tmp_path, reporter=Listener())
    assert meta.instructions == "approximated"
    assert [message.split(" are ")[0] for message in said] == ["accesses and instructions of one"]
