"""A sampled trace that was cut short or altered is an error that names the file and the offset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sampled_files import Part, sampled
from sim_programs import false_sharing, kept

from autofinity._core import sim
from autofinity._core import trace as core
from autofinity.model.errors import AutofinityError, SimulationError, TraceError
from autofinity.sim.sampled import SampledProgram

pytestmark = pytest.mark.any_user

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "sampled_trace"
STREAMS = 3
WARM = [(90, [(4096, 3, True), (8192, 1, False)]), (40, [(4099, 2, False)])]


def names(streams: int) -> list[str]:
    """In the order of a bundle (tests/fuzz/sampled_bundle.hpp)."""
    numbers = range(streams)
    return [
        *("index.aft", *(f"stream-{i:04}.aft" for i in numbers)),
        *(*(f"warm-{i:04}.afw" for i in numbers), "pages.afp", "windows.afs"),
    ]


PARTS = [[Part(WARM, waits=True)] * STREAMS, [Part(WARM)] * (STREAMS - 1) + [Part()]]
PAGES = [(64, 3, 0), (128, 1, 2)]


@pytest.fixture
def recorded(tmp_path: Path) -> list[bytes]:
    """The index and the streams of a whole trace."""
    whole = Path(kept(false_sharing(STREAMS, 40, 4), tmp_path / "whole"))
    return [path.read_bytes() for path in [whole / "index.aft", *sorted(whole.glob("st*"))]]


@pytest.fixture
def files(recorded: list[bytes]) -> list[bytes]:
    return sampled(recorded, PARTS, PAGES)


def written(folder: Path, files: list[bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in zip(names((len(files) - 3) // 2), files, strict=True):
        (folder / name).write_bytes(content)
    return folder


def read_all(folder: Path) -> list[int]:
    """Streams of each window, replayed as a program."""
    trace = core.read_sampled(str(folder))
    count = len(trace.windows["work_begin"])
    return [sim.Program.read_window(trace, number).streams for number in range(count)]


def changes(content: bytes) -> Iterator[bytes]:
    """Cut short, longer, and with a bit turned, at every seventh byte and at the ends."""
    places = sorted({*range(0, len(content), 7), *range(20), len(content) - 1})
    for at in places:
        yield content[:at]
        yield content[:at] + bytes([content[at] ^ (1 << at % 8)]) + content[at + 1 :]
    yield content + b"\0"


def test_the_forged_trace_is_a_trace(tmp_path: Path, files: list[bytes]) -> None:
    assert read_all(written(tmp_path / "t", files)) == [STREAMS, STREAMS]


@pytest.mark.parametrize("number", range(len(names(STREAMS))))
def test_a_file_that_was_cut_or_altered(tmp_path: Path, files: list[bytes], number: int) -> None:
    name = names(STREAMS)[number]
    folder = written(tmp_path / "t", files)
    told = 0
    for changed in changes(files[number]):
        (folder / name).write_bytes(changed)
        try:
            read_all(folder)
        except TraceError as error:
            told += 1
            assert name in str(error) or "windows.afs" in str(error)
            assert " at offset " in str(error)
        else:  # what lies behind the last window, or the times of the capture
            assert (name.startswith(("warm", "stream")) and len(changed) > len(files[number])) or (
                name.startswith("stream") and changed[24:] == files[number][24:]
            )
    assert told > 20


@pytest.mark.parametrize(
    ("meetings", "intervals"),
    [((), 2), ((0,), 2), ((7, 7), 2), ((0, 1000), 0)],
    ids=["no meeting", "no end", "no work", "no interval"],
)
def test_windows_of_no_region_are_an_error_that_names_their_file(
    tmp_path: Path, recorded: list[bytes], meetings: tuple[int, ...], intervals: int
) -> None:
    folder = written(tmp_path / "t", sampled(recorded, PARTS, PAGES, meetings, intervals))
    with pytest.raises(
        TraceError, match=r"t/windows\.afs at offset 0.*no begin, no end or no work"
    ):
        SampledProgram(folder)


def test_a_region_without_windows_says_how_to_capture_it(
    tmp_path: Path, recorded: list[bytes]
) -> None:
    folder = written(tmp_path / "t", sampled(recorded, [], [], ()))
    with pytest.raises(SimulationError, match=r"no window.*--whole"):
        SampledProgram(folder)


def test_a_region_with_windows_is_a_program(tmp_path: Path, recorded: list[bytes]) -> None:
    folder = written(tmp_path / "t", sampled(recorded, PARTS, PAGES, (0, 1000)))
    assert SampledProgram(folder).order


def unpack(bundle: bytes) -> list[bytes]:
    files, at = [], 1
    while len(bundle) - at >= 4:
        size = int.from_bytes(bundle[at : at + 4], "little")
        files.append(bundle[at + 4 : at + 4 + size])
        at += 4 + size
    return files


def test_what_the_fuzzer_found_is_replayed_or_refused_the_same_way_again(tmp_path: Path) -> None:
    replayed = refused = 0
    for bundle in sorted(CORPUS.iterdir()):
        files = unpack(bundle.read_bytes())
        if len(files) < 5 or len(files) % 2 == 0:
            continue  # no trace at all
        folder = written(tmp_path / bundle.name, files)
        answers = []
        for _ in range(2):
            try:
                answers.append(str(read_all(folder)))
                replayed += 1
            except (TraceError, SimulationError) as error:
                assert isinstance(error, AutofinityError)
                answers.append(str(error))
                refused += 1
        assert answers[0] == answers[1]
    assert replayed >= 6 and refused >= 10
