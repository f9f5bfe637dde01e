"""Lists the slow tests in tests/slow.txt again, from JUnit reports of all tests.

scripts/test .venv --junitxml=all.xml && .venv/bin/python scripts/tools/slow_tests.py all.xml
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
from slow_tests import LIST, slow_in

found = slow_in([Path(word) for word in sys.argv[1:]])
LIST.write_text("".join(f"{took_s:6.1f} {function}\n" for function, took_s in found.items()))
