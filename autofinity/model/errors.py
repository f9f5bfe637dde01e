"""The one hierarchy of errors.

Every message names what was got, what was expected and what to do about it. Only `autofinity.cli`
turns an error into one line and an exit code; nothing else prints or exits.
"""

from __future__ import annotations


class AutofinityError(Exception):
    """Base of every error that autofinity raises on purpose. `exit_code` is that of the command
    line.

    >>> try:
    ...     af.get_affinity("opteron-6164he", 100)
    ... except af.AutofinityError as error:
    ...     print(error)
    cannot place 100 threads on 48 available CPUs on opteron-6164he; ask for at most 48
    """

    exit_code: int = 1


class UsageError(AutofinityError):
    """The request cannot be met: a wrong argument, an unknown name, a bad number."""

    exit_code = 2


class TopologyError(AutofinityError):
    """A machine description could not be read or holds no usable processing unit."""


class UnknownMachineError(TopologyError, UsageError):
    """No machine has this name."""


class UnknownHintError(UsageError, ValueError):
    """No hint has this name or these letters."""


class SampleError(UsageError, ValueError):
    """A sample names a counter that is none, or lacks one without which nothing can be decided."""


class PlacementError(UsageError):
    """Threads cannot be placed: none asked for, no PU left, or more threads than PUs."""


class TraceError(AutofinityError):
    """A trace is truncated, altered or from a newer version; the message names file and offset."""


class SuiteError(AutofinityError):
    """A suite manifest is wrong, or a program of it fails to build or to run."""


class UnknownProgramError(SuiteError, UsageError):
    """The suite has no program of this name, or the program has no input of this size."""


class CaptureError(AutofinityError):
    """A program ran under capture, but gave no complete trace."""


class NoSpaceError(CaptureError):
    """No space is left for traces, which is no fault of a program's: others fail alike."""


class SimulationError(AutofinityError):
    """The replay cannot go on (a deadlock names both events) or the model was misused."""


class StoreError(AutofinityError):
    """Observations or the behaviour database cannot be read or written."""


class RowRefusedError(StoreError):
    """The behaviour database can never hold this row; other rows are not concerned."""


class MeasurementError(AutofinityError):
    """A file of others' measurements is of no known format, damaged, or without counts."""


class LearningError(AutofinityError):
    """No policy can be learned from these observations; the message says what is missing."""


class UnknownCounterError(LearningError, UsageError):
    """The observations have no counter of this name."""


class PolicyError(AutofinityError):
    """A policy file is damaged, from a newer version, or does not fit its schema."""


class UnknownPolicyError(PolicyError, UsageError):
    """No policy has this name."""


class ExportError(AutofinityError):
    """A policy cannot be written in the format asked for."""


class UnknownFormatError(ExportError, UsageError):
    """No format of policies has this name."""


class ClusterError(AutofinityError):
    """Other machines that runs were to be made on cannot be reached, or cannot make them."""


class LinuxError(AutofinityError):
    """The kernel refused a request; the message holds the name of errno and the remedy."""


class CapabilityError(LinuxError):
    """A sensor or an action is not available here; the message names the next best."""
