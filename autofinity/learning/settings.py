"""All settings of learning: our choices are the defaults, the paper's are `PAPER`.

The module holds plain values only (no numpy), so that the command line can offer the choices at no
cost.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from autofinity.model.errors import UsageError
from autofinity.model.ratios import CROSS_CORE_COUNTERS

type Metric = Literal["ipc", "speed", "throughput", "-energy", "-energy-delay"]
type Condense = Literal["median", "mean", "gmean", "hmean", "max", "min", "sum"]
type Method = Literal["equal-width", "equal-frequency", "equal-share"]
type BinNumber = Literal["automatic", "weka-corrected", "weka", "fixed"]
type BinType = Literal["ordered", "nominal"]
type Weighting = Literal["observations", "stake", "none"]
type Features = Literal["portable", "rates", "ratios", "both"]
type Labels = Literal["periods", "runs"]
type Selection = Literal["cfs", "paper", "regret"]
type LearnerName = Literal["jrip", "ripper", "regret-tree"]
type Probe = Literal["none", "SLp", "SlP", "Slp", "sLP", "sLp", "slP", "slp"]

METRICS: tuple[str, ...] = get_args(Metric.__value__)
CONDENSE: tuple[str, ...] = get_args(Condense.__value__)
METHODS: tuple[str, ...] = get_args(Method.__value__)
BIN_NUMBERS: tuple[str, ...] = get_args(BinNumber.__value__)
BIN_TYPES: tuple[str, ...] = get_args(BinType.__value__)
WEIGHTINGS: tuple[str, ...] = get_args(Weighting.__value__)
FEATURES: tuple[str, ...] = get_args(Features.__value__)
LABELS: tuple[str, ...] = get_args(Labels.__value__)
SELECTIONS: tuple[str, ...] = get_args(Selection.__value__)
LEARNERS: tuple[str, ...] = get_args(LearnerName.__value__)
PROBES: tuple[str, ...] = get_args(Probe.__value__)

MOST_BINS = 20
"""Largest number of bins of a counter; more change nothing (docs/policy-study.md has the figures of
all constants)."""


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Settings of learning. Raises `UsageError` for an impossible value."""

    labels: Labels = "runs"
    """Source of the labels of behaviours: whole runs in each affinity, or matching sample periods
    (figure 6)."""
    features: Features = "portable"
    """Inputs of rules: rates of counters, ratios of them (`model.ratios`), ratios that every PMU
    can count (and the machine's, by `cross_core`), or rates and all ratios."""
    cross_core: tuple[str, ...] = ()
    """Counters of lines from other cores' caches (`model.ratios.CROSS_CORE_COUNTERS`) that the
    machine has: portable ratios may use them, too."""
    uncounted: tuple[str, ...] = ()
    """Counters that the machine's PMU lacks: rates do not use them (`workflow.machine_events`)."""
    metric: Metric = "speed"
    condense: Condense = "gmean"
    """Function that condenses the performances that a hint has in a row of the action table: those
    of its affinities (`leeway`), and of the programs with that behaviour."""
    leeway: int = 0
    """Number of threads that may be moved for an affinity still to belong to a hint (the paper's:
    2). The caller makes its `HintsOf` with this number (`learning.leeway_hints`); learning itself
    only stores it as provenance."""
    discretisation: Method = "equal-share"
    bins: int = MOST_BINS
    """Number of bins of a counter: the largest number for equal width; the exact number (ties
    aside) for the other methods."""
    bin_number: BinNumber = "automatic"
    """Choice of the number of bins of equal width, up to `bins` (see `learning.discretise`)."""
    normalise: bool = True
    """Whether to divide each performance by the smallest of its program. Whole runs are always
    compared within their program, with its best hint."""
    k: int = 4
    """Number of counters to choose: as many as the PMU counts at once."""
    selection: Selection = "regret"
    """Method of selection: counters that correlate with the metric; the paper's four on machines
    whose PMU counts them, and elsewhere those that correlate (`workflow.machine_events` decides);
    or features with the least loss on held-out programs."""
    counters: tuple[str, ...] | None = None
    """Counters or ratios to use instead of chosen ones."""
    window: int = 0
    """Number of periods in the sample that a decision is made from; 0: the whole run. With labels
    of runs a behaviour is the mean of as many periods."""
    bin_type: BinType = "ordered"
    """Form in which bins enter the learner."""
    literal: bool = False
    """Figure 6, line 18 as printed: the last destination of a hint overwrites the others."""
    weighting: Weighting = "stake"
    """Weights of the rows of the action table in learning (see `learning.row_weights`)."""
    learner: LearnerName = "regret-tree"
    """Learner: WEKA's JRip, the reference; our own RIPPER; or rules of a tree with the least
    loss."""
    most_rules: int = 8
    """Largest number of rules of the tree, and of the tree of a second look."""
    probe: Probe = "slP"
    """Hint in whose affinity a second sample is taken before threads are moved, if that pays on
    held-out programs (labels of runs and regret-tree only)."""
    trial: Probe = "sLP"
    """Hint that is tried after a second look, where that pays (see `learning.trial`)."""
    other_counts: bool = True
    """Whether to learn the meaning of answers with thread counts that were not profiled (see
    `learning.other_counts`); the caller has to give the machine's best matches."""
    seed: int = 1

    def __post_init__(self) -> None:
        choices = {
            "metric": METRICS,
            "condense": CONDENSE,
            "discretisation": METHODS,
            "bin_number": BIN_NUMBERS,
            "bin_type": BIN_TYPES,
            "weighting": WEIGHTINGS,
            "learner": LEARNERS,
            "features": FEATURES,
            "labels": LABELS,
            "selection": SELECTIONS,
            "probe": PROBES,
            "trial": PROBES,
        }
        for field, allowed in choices.items():
            got = getattr(self, field)
            if got not in allowed:
                raise UsageError(f"{field} {got!r}: expected one of {', '.join(allowed)}")
        for field, least in (
            ("leeway", 0),
            ("bins", 1),
            ("k", 1),
            ("window", 0),
            ("most_rules", 1),
        ):
            number = getattr(self, field)
            if not isinstance(number, int) or number < least:
                raise UsageError(f"{field} {number!r}: expected a whole number, at least {least}")
        if self.bins > MOST_BINS:
            raise UsageError(
                f"bins {self.bins}: expected at most {MOST_BINS}; more change nothing "
                "(docs/policy-study.md)"
            )
        unknown = set(self.cross_core) - set(CROSS_CORE_COUNTERS)
        if unknown:
            raise UsageError(
                f"cross_core {', '.join(sorted(unknown))}: expected some of "
                f"{', '.join(CROSS_CORE_COUNTERS)}"
            )
        if self.counters == ():
            raise UsageError("counters: none is named; expected some, or None to choose them")
        if self.counters is not None and len(set(self.counters)) != len(self.counters):
            raise UsageError(f"counters {', '.join(self.counters)}: one is named twice")

    def as_dict(self) -> dict[str, object]:
        """Settings for provenance: plain values only."""
        plain = asdict(self)
        plain["counters"] = None if self.counters is None else list(self.counters)
        plain["cross_core"] = list(self.cross_core)
        plain["uncounted"] = list(self.uncounted)
        return plain


PAPER = LearningSettings(
    labels="periods",
    features="rates",
    metric="ipc",
    condense="median",
    leeway=2,
    discretisation="equal-width",
    bins=5,
    bin_number="weka",
    selection="paper",
    window=1,
    weighting="none",
    learner="jrip",
    probe="none",
    trial="none",
    other_counts=False,
)
"""Moore & Childers, by section: one sample period (2), each row of the action table once (2.2,
figure 6), JRip (2.3), IPC (3), counters (3.1), bins by WEKA's Discretize (3.2), the median (3.3),
normalised, with a leeway of 2 (3.4)."""
