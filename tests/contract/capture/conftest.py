"""One workshop for all tests: what several of them look at is compiled and captured once.

Once for each way to build for capture: what is promised holds for all.
"""

import platform

import pytest
from workshop import Workshop


@pytest.fixture(scope="session", params=["code", "accesses"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    if request.param == "code" and platform.machine() != "x86_64":
        pytest.skip("assembly of x86-64 only can be instrumented")
    return Workshop(tmp_path_factory.mktemp("workshop"), request.param)
