"""Render the conda recipe for every Python and platform, as rattler-build does before it builds.

python scripts/tools/render_recipe.py        (needs py-rattler-build)
"""

from __future__ import annotations

from pathlib import Path

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

RECIPE = Path(__file__).resolve().parents[2] / "packaging/conda/recipe.yaml"
VARIANTS = {
    "python": ["3.12.*", "3.13.*"],
    "c_compiler": ["gcc"],
    "cxx_compiler": ["gxx"],
    "c_stdlib": ["sysroot"],
    "c_stdlib_version": ["2.28"],
}


def main() -> None:
    recipe = Stage0Recipe.from_file(str(RECIPE))
    for platform in ("linux-64", "linux-aarch64"):
        config = RenderConfig(platform=PlatformConfig(target_platform=platform))
        rendered = recipe.render(VariantConfig(VARIANTS), config)
        if len(rendered) != len(VARIANTS["python"]):
            raise SystemExit(f"{platform}: {len(rendered)} variants, not one a Python")
        print(f"{platform}: {len(rendered)} variants")


if __name__ == "__main__":
    main()
