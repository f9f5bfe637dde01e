"""AutoFinity as its paper evaluates it (Moore & Childers, CC 2013, section 3.1): sampled in one run
in the spread affinity, then run again in the chosen one.
"""

from __future__ import annotations

from autofinity.affinity.best_matches import all_cores
from autofinity.mechanisms.autofinity import policy_of
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.static import Static, hinted
from autofinity.model.errors import UsageError
from autofinity.policy.answers import last_answer


def restarted(setting: Setting) -> Static:
    """`autofinity-restart`. Raises `UsageError` without a policy or an earlier run."""
    policy = policy_of(setting)
    if setting.sample is None:
        raise UsageError("autofinity-restart looks at an earlier run; expected one to be possible")
    cores = all_cores(setting.topology)
    hint = last_answer(policy, setting.sample, setting.placed, cores)
    return hinted("autofinity-restart", setting, hint)
