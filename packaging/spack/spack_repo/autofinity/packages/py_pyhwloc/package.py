# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyPyhwloc(PythonPackage):
    """Python interface of the hwloc library."""

    homepage = "https://pyhwloc.readthedocs.io/"
    pypi = "pyhwloc/pyhwloc-3.0.1.tar.gz"
    git = "https://github.com/open-mpi/pyhwloc.git"

    license("BSD-3-Clause", checked_by="autofinity")

    version("3.0.1", sha256="7a068f72d6ed15708bd507f062017c6f3da7d778d748958e3702a0759070cca8")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("python@3.12:", type=("build", "run"))
    depends_on("py-hatchling", type="build")
    depends_on("py-packaging", type="build")
    # Version 3 of hwloc is not released; its branch has it.
    depends_on("hwloc@master")

    def config_settings(self, spec, prefix):
        return {
            "fetch-hwloc": "False",
            "hwloc-root-dir": spec["hwloc"].prefix,
            "with-cuda": "False",
        }
