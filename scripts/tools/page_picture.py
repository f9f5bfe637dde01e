"""Take the picture of a page for docs/report.md, with a headless Chromium.

    python scripts/tools/page_picture.py [OUT.png]

The page is that of `autofinity explain` for a sample of the shipped policy of the Opteron. Needs
chromium-headless-shell or chromium, as distributions package them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "report.png"
WIDTH_PX, HEIGHT_PX = 1280, 1250
SAMPLE = "instructions=4.1e8,llc_requests=6e6,llc_misses=1e6"


def main(out: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no Chromium here; expected one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        explain = ["explain", "opteron-6164he", "--sample", SAMPLE, "--html", str(page)]
        command = [sys.executable, "-m", "autofinity", *explain]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={folder}/browser",
                f"--window-size={WIDTH_PX},{HEIGHT_PX}",
                "--virtual-time-budget=5000",
                f"--screenshot={out.resolve()}",
                page.as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENT)
