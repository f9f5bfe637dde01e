"""Variables of OpenMP runtimes, set by `env`."""

from __future__ import annotations

from autofinity.affinity.launchers.form import LauncherForm, Task, for_each, listed


def _variables(task: Task, **values: str) -> str:
    return f"env {_settings(task, **values)}"


def _settings(task: Task, **values: str) -> str:
    values = {"OMP_NUM_THREADS": str(len(task.cpus)), **values}
    return " ".join(f"{name}={text}" for name, text in values.items())


def _omp(task: Task) -> str:
    # With as many places as threads, `close` puts thread i on place i (OpenMP 5.2, section 10.1.3).
    places = ",".join(f"{{{cpu}}}" for cpu in task.cpus)
    return _variables(task, OMP_PLACES=places, OMP_PROC_BIND="close")


def _gomp(task: Task) -> str:
    # GCC's runtime prefers OMP_PLACES without a word, and OMP_PROC_BIND may bind nothing.
    places = _settings(task, GOMP_CPU_AFFINITY=listed(task.cpus))
    return f"env -u OMP_PLACES -u OMP_PROC_BIND {places}"


def _kmp(task: Task) -> str:
    explicit = f"granularity=fine,proclist=[{listed(task.cpus)}],explicit"
    return _variables(task, KMP_AFFINITY=explicit)


OMP = LauncherForm(
    "any OpenMP runtime", for_each(_omp), pins_threads=True, checked="by libgomp, LLVM's libomp"
)
GOMP = LauncherForm(
    "GCC's OpenMP runtime", for_each(_gomp), pins_threads=True, checked="by libgomp"
)
KMP = LauncherForm(
    "Intel's and LLVM's OpenMP runtime",
    for_each(_kmp),
    pins_threads=True,
    checked="by LLVM's libomp",
)
