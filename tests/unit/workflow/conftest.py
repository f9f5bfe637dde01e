from pathlib import Path

import pytest
from few_observations import write_few


@pytest.fixture(scope="session")
def observations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_few(tmp_path_factory.mktemp("observed") / "few.parquet")
