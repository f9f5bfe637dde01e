"""A stranger's manifest reads nothing but what lies below its folder, and is refused in one line
for whatever a build or a run would stumble over later.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from refusals import refused

from autofinity.capture.build import Built
from autofinity.capture.request import CaptureRequest, arguments_of
from autofinity.trace.manifest import load_suite

pytestmark = pytest.mark.any_user


def manifest(folder: Path, more: str = "", tiny: str = "1") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "suite.toml"
    path.write_text(
        f'[suite]\nname = "strange"\n[programs.p]\nbuild = "true"\nrun = ["true", "{{input}}"]\n'
        f"{more}\n[programs.p.inputs]\ntiny = {json.dumps(tiny)}\n"
    )
    return path


@pytest.mark.parametrize("words", ['"unclosed', "it's", "ends with a \\"])
def test_an_input_of_no_words_is_refused_before_anything_is_built(
    tmp_path: Path, words: str
) -> None:
    path = manifest(tmp_path / "s", tiny=words)
    out = tmp_path / "traces"
    said = refused(tmp_path, "capture", "--suite", path, "--size", "tiny", "-o", out)
    assert "programs.p.inputs: tiny is " in said and "no words of a shell" in said
    assert not out.exists()


@pytest.mark.parametrize(
    "pattern",
    ["/dev/zero", "/", "../../../../*", "a/../../b", "..", "", ".", "**x", "a/**b"],
)
def test_sources_lie_below_the_folder_of_the_manifest(tmp_path: Path, pattern: str) -> None:
    path = manifest(tmp_path / "s", f"sources = [{json.dumps(pattern)}]")
    out = tmp_path / "traces"
    said = refused(tmp_path, "capture", "--suite", path, "--size", "tiny", "-o", out)
    assert "programs.p.sources: got " in said and "below the manifest's folder" in said


def test_a_folder_may_have_quotes_and_blanks_in_its_name(tmp_path: Path) -> None:
    path = manifest(tmp_path / "it's a suite", tiny="{dir}/grid 'two words'")
    suite = load_suite(path)
    built = Built(tmp_path / "out", None, "no", "digest")
    request = CaptureRequest(suite, suite.programs["p"], built, 1, "tiny", tmp_path)
    assert arguments_of(request) == ("true", f"{path.parent}/grid", "two words")


@pytest.mark.parametrize("command", ["train", "evaluate", "profile", "capture"])
def test_a_manifest_that_is_a_link_to_itself(tmp_path: Path, command: str) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    work = ("-o", tmp_path / "w") if command == "capture" else ("--work", tmp_path / "w")
    assert "symbolic links" in refused(tmp_path, command, "--suite", loop, *work)
