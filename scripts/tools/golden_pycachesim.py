"""Print the counts of pycachesim for the address streams of the tests.

    pip install pycachesim
    python scripts/tools/golden_pycachesim.py > tests/golden/pycachesim.json

pycachesim (AGPL-3.0) is a tool of this script only; neither the package nor its tests need it.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from pycachesim_counts import golden

from autofinity.policy.json_layout import laid_out

if __name__ == "__main__":
    sys.stdout.write(laid_out(golden()))
