"""One workshop for all tests: what several of them look at is compiled and captured once."""

import pytest
from workshop import Workshop


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    import os
    return Workshop(tmp_path_factory.mktemp("workshop"), os.environ.get("WAY","accesses"))
