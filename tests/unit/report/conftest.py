from __future__ import annotations

import pytest
from few_observations import FEW_ON, write_few

from autofinity.workflow.evaluate import Evaluated, evaluate
from autofinity.workflow.wanted import wanted_on


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """A shipped policy, judged on few observations."""
    file = write_few(tmp_path_factory.mktemp("few") / "few.parquet")
    return evaluate(wanted_on(FEW_ON), policy="any-machine", observations=file)
