"""The diagram in ARCHITECTURE.md as a test."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_imports_run_downwards_only() -> None:
    lint = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert lint.returncode == 0, lint.stdout + lint.stderr


def test_the_house_is_drawn_as_the_import_rules_have_it() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    drawing = text.split("<!-- begin: house -->")[1].split("<!-- end: house -->")[0]
    rooms = r"[a-z_]+(?: \| [a-z_]+)*"
    drawn = re.findall(rf"^({rooms})(?:  .*)?$", drawing, re.MULTILINE)
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert drawn == [layer.replace("autofinity.", "") for layer in rules["contracts"][0]["layers"]]


def test_scripts_and_notebooks_call_what_the_command_line_calls() -> None:
    files = [*ROOT.glob("scripts/**/*.py"), *ROOT.glob("notebooks/*.ipynb")]
    assert len(files) > 30
    assert [file.name for file in files if "autofinity.cli" in file.read_text()] == []


def test_classes_of_weka_are_named_in_one_file_and_in_one_of_tests() -> None:
    named = re.compile(r"\bweka\.(core|classifiers|filters|attributeSelection)\b")
    rooms = ("autofinity", "scripts", "tests")
    files = [file for room in rooms for file in ROOT.glob(f"{room}/**/*.py")]
    naming = {str(file.relative_to(ROOT)) for file in files if named.search(file.read_text())}
    assert naming == {"autofinity/learning/weka.py", "tests/support/weka_reference.py"}


def test_the_package_imports_without_heavy_libraries() -> None:
    code = (
        "import sys, autofinity.cli.main, autofinity.ports;"
        "heavy = 'numpy pandas pyarrow pydantic sklearn jpype rich pyhwloc distributed'.split();"
        "print([m for m in heavy if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stdout + out.stderr


def test_monitors_probes_and_advice_start_without_what_would_take_their_memory_or_time() -> None:
    for module, heavy in (
        (
            "autofinity.runtime.monitor",
            "('numpy', 'pydantic', 'click', 'hashlib', 'autofinity._core')",
        ),
        ("autofinity.mechanisms.monitor", "('numpy', 'click', 'hashlib')"),
        ("autofinity.linux.capabilities", "('numpy', 'click', 'autofinity._core')"),
        ("autofinity.workflow.advice.advice", "('sklearn', 'scipy')"),
    ):
        code = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
        out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert out.stdout.strip() == "[]", out.stdout + out.stderr
