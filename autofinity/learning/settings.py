"""Everything one can choose about learning: our choices as defaults, the paper's as `PAPER`.

Plain values only (no numpy), so that the command line can offer the choices at no cost.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, get_args

from autofinity.model.errors import UsageError

type Metric = Literal["ipc", "speed", "throughput", "-energy", "-energy-delay"]
type Condense = Literal["median", "mean", "gmean", "hmean", "max", "min", "sum"]
type Method = Literal["equal-width", "equal-frequency", "equal-share"]
type BinNumber = Literal["automatic", "weka-corrected", "weka", "fixed"]
type Engine = Literal["auto", "weka", "numpy"]
type BinType = Literal["ordered", "nominal"]
type SampledIn = Literal["any", "start"]
type Weighting = Literal["observations", "stake", "none"]
type Features = Literal["portable", "rates", "ratios", "both"]
type Labels = Literal["periods", "runs"]
type Selection = Literal["cfs", "regret"]
type Edges = Literal["worst", "middle"]
type LearnerName = Literal["jrip", "ripper", "regret-tree"]
type Probe = Literal["none", "SLp", "SlP", "Slp", "sLP", "sLp", "slP", "slp"]
type Matching = Literal["auto", "progress", "index"]

METRICS: tuple[str, ...] = get_args(Metric.__value__)
CONDENSE: tuple[str, ...] = get_args(Condense.__value__)
METHODS: tuple[str, ...] = get_args(Method.__value__)
BIN_NUMBERS: tuple[str, ...] = get_args(BinNumber.__value__)
ENGINES: tuple[str, ...] = get_args(Engine.__value__)
BIN_TYPES: tuple[str, ...] = get_args(BinType.__value__)
SAMPLED_IN: tuple[str, ...] = get_args(SampledIn.__value__)
WEIGHTINGS: tuple[str, ...] = get_args(Weighting.__value__)
FEATURES: tuple[str, ...] = get_args(Features.__value__)
LABELS: tuple[str, ...] = get_args(Labels.__value__)
SELECTIONS: tuple[str, ...] = get_args(Selection.__value__)
EDGES: tuple[str, ...] = get_args(Edges.__value__)
LEARNERS: tuple[str, ...] = get_args(LearnerName.__value__)
PROBES: tuple[str, ...] = get_args(Probe.__value__)
MATCHING: tuple[str, ...] = get_args(Matching.__value__)


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """Raises `UsageError` for a value that cannot be."""

    labels: Labels = "runs"
    """Whose performance labels a behaviour: whole runs in each affinity, or matching sample periods
    (figure 6)."""
    features: Features = "portable"
    """What rules may look at: rates of counters, ratios of them (`model.ratios`), ratios that every
    PMU can count, or rates and all ratios."""
    metric: Metric = "speed"
    condense: Condense = "median"
    leeway: int = 0
    """Threads that may be moved for an affinity still to belong to a hint. Kept as provenance: the
    caller's `hints_of` applies it."""
    discretisation: Method = "equal-share"
    bins: int = 20
    """Bins of a counter: at most, for equal width; exactly (ties aside), for the others."""
    bin_number: BinNumber = "automatic"
    """How many bins of equal width, up to `bins` (see `learning.discretise`)."""
    normalise: bool = True
    """Each performance over the smallest of its program."""
    drop_insensitive: bool = True
    """Leave programs out whose ROI time varies by less than 1 % across affinities."""
    k: int = 4
    """Counters to choose: what the PMU counts at once."""
    selection: Selection = "regret"
    """Counters that correlate with the metric, or features that lose least on held-out programs."""
    edges: Edges = "worst"
    """Which of equally good edges judge a feature on held-out programs."""
    counters: tuple[str, ...] | None = None
    """These counters or ratios instead of chosen ones."""
    warmup: int = 1
    """Periods at the start of a run that show nothing but cold caches (labels of runs only)."""
    window: int = 0
    """Periods that a behaviour is the mean of; 0: the whole run (labels of runs only). As long as
    the sample that decisions are made from."""
    standardise: bool = True
    """Give counters the same weight in the selection, whatever their units."""
    drop_repeats: bool = True
    """Choose only one of counters that are multiples of each other."""
    engine: Engine = "auto"
    """Who computes the counter selection."""
    bin_type: BinType = "ordered"
    """How bins enter the learner."""
    literal: bool = False
    """Figure 6, line 18 as printed: the last destination of a hint overwrites the others."""
    matching: Matching = "auto"
    """How sample periods of different affinities correspond."""
    tie_within: float = 0.01
    """Hints whose consequence is within this share of the best are equal: the first is the label.
    Evaluation calls 1 % equal; figure 6 has 0. Labels of runs have no loss there."""
    sampled_in: SampledIn = "any"
    """Behaviours of which affinities make rows: of any (figure 6), or only of those that belong to
    the distributed hint, where a run takes its sample."""
    weighting: Weighting = "stake"
    """What a row of the action table weighs in learning (see `learning.row_weights`)."""
    learner: LearnerName = "regret-tree"
    """WEKA's JRip, the reference; our own RIPPER; or rules of a tree that loses least."""
    most_rules: int = 8
    """Of the tree, and of that of a second look."""
    probe: Probe = "slP"
    """Hint in whose affinity a second sample is taken before threads are moved, if that pays on
    held-out programs (labels of runs and regret-tree only)."""
    edge_at_par: bool = True
    """Put the edge of a second look's `speed_gain` between slower and as fast, where what was seen
    leaves that open."""
    other_counts: bool = True
    """Learn what answers mean with thread counts that nothing was profiled with (see
    `learning.other_counts`); the caller has to give the machine's best matches."""
    seed: int = 1

    def __post_init__(self) -> None:
        choices = {
            "metric": METRICS,
            "condense": CONDENSE,
            "discretisation": METHODS,
            "bin_number": BIN_NUMBERS,
            "engine": ENGINES,
            "bin_type": BIN_TYPES,
            "matching": MATCHING,
            "sampled_in": SAMPLED_IN,
            "weighting": WEIGHTINGS,
            "learner": LEARNERS,
            "features": FEATURES,
            "labels": LABELS,
            "selection": SELECTIONS,
            "edges": EDGES,
            "probe": PROBES,
        }
        for field, allowed in choices.items():
            got = getattr(self, field)
            if got not in allowed:
                raise UsageError(f"{field} {got!r}: expected one of {', '.join(allowed)}")
        for field, least in (
            ("leeway", 0),
            ("bins", 1),
            ("k", 1),
            ("warmup", 0),
            ("window", 0),
            ("most_rules", 1),
        ):
            number = getattr(self, field)
            if number < least:
                raise UsageError(f"{field} {number}: expected at least {least}")
        if not 0.0 <= self.tie_within < 1.0:
            raise UsageError(f"tie_within {self.tie_within}: expected a share from 0 to below 1")
        if self.counters is not None and len(set(self.counters)) != len(self.counters):
            raise UsageError(f"counters {', '.join(self.counters)}: one is named twice")

    def as_dict(self) -> dict[str, object]:
        """For provenance: plain values only."""
        plain = asdict(self)
        plain["counters"] = None if self.counters is None else list(self.counters)
        return plain


PAPER = LearningSettings(
    labels="periods",
    features="rates",
    metric="ipc",
    leeway=2,
    discretisation="equal-width",
    bins=5,
    selection="cfs",
    tie_within=0.0,
    weighting="observations",
    learner="jrip",
    probe="none",
    edge_at_par=False,
    other_counts=False,
)
"""Sections 2.2-3.4 of Moore & Childers."""
