# SPDX-License-Identifier: (Apache-2.0 OR MIT)

import os

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyAutofinity(PythonPackage):
    """Learns where a multithreaded program's threads and memory should sit on a NUMA
    machine, and puts them there."""

    # Describes the method; the project has no address of its own yet.
    homepage = "https://doi.org/10.1007/978-3-642-37051-9_10"
    pypi = "autofinity/autofinity-0.1.0.tar.gz"

    license("Apache-2.0 AND GPL-2.0-or-later AND BSD-3-Clause AND MIT", checked_by="autofinity")

    # A release adds the sha256 of its sdist; `spack dev-build py-autofinity@0.1.0` needs none.
    version("0.1.0")

    variant("plots", default=False, description="Figures, and pages for browsers")

    conflicts("platform=darwin", msg="NUMA placement is of Linux")
    conflicts("platform=windows", msg="NUMA placement is of Linux")
    conflicts("%gcc@:10", msg="needs C++20")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.12:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("py-nanobind@2.4:", type="build")

    with default_args(type=("build", "run")):
        depends_on("py-click@8.1:")
    with default_args(type="run"):
        depends_on("py-rich@13.7:")
        depends_on("py-numpy@1.26:")
        depends_on("py-pandas@2.2:")
        depends_on("py-pyarrow@15: +parquet")
        depends_on("py-pydantic@2.9:")
        depends_on("py-scikit-learn@1.6:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-rustworkx@0.15:")
        depends_on("py-pyhwloc@3.0:")
        depends_on("py-matplotlib@3.8:", when="+plots")
        depends_on("py-plotly@6:", when="+plots")

    @run_after("install")
    def name_dependencies(self):
        """Write where the dependencies are: autofinity's Python is isolated from the
        PYTHONPATH of the programs that it runs."""
        folders = [
            join_path(spec.prefix, folder)
            for spec in self.spec.traverse(root=False, deptype="run")
            for folder in dict.fromkeys((python_platlib, python_purelib))
        ]
        own = join_path(self.prefix, python_platlib, "spack-dependencies.pth")
        with open(own, "w") as file:
            file.writelines(f"{folder}\n" for folder in folders if os.path.isdir(folder))

    def setup_run_environment(self, env):
        # Spack may put another program than Python into the first line of a script.
        env.set("AUTOFINITY_PYTHON", self.spec["python"].command.path)
