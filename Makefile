# Two commands matter: `make demo` and `make test`. Each sets up what it needs in .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests are shared out among processes, two for each core, and run in random order: `--randomly-seed=N`
# in PYTEST_ARGS repeats an order, whose number is printed at the top.
AT_ONCE ?= -n auto --maxprocesses 6 --dist worksteal

# Sources are compiled once, not by each of the thousands of processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo docs field field-quick pictures test tests test-slow test-all test-versions test-latest test-lowest test-programs test-ray faults coverage check bench bench-check bench-document setup clean requirements release

demo: setup
	$(BIN)/python examples/demo.py

# The pictures of the README, of a real run. Needs Chromium.
pictures: setup
	$(BIN)/python -m tests.pictures

SLOW := slow or real_server or field
PYTEST = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest $(AT_ONCE)
TESTS = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/second_try.py $(AT_ONCE)

# The checks, and all tests but the slow ones. A few that fail are run once more, alone (tests/second_try.py).
test: check tests

WHICH = -m "not ($(SLOW))"
tests: setup
	$(TESTS) $(WHICH) $(PYTEST_ARGS)

# The slow ones: the demo, killed runs, benchmarks in containers, simulations of coverage and power, every page in every size, a server that nobody here wrote.
test-slow: setup
	$(TESTS) -m "slow or real_server" $(PYTEST_ARGS)

# The checks beside the tests, slow ones and all; the README in an empty environment, another Python in a clone
# elsewhere, other fastmcps, Ray, other programs that read what is exported, and a real model, three at a time; then the
# ratios of speed and memory against their limits. TURNS=3, as CI has it: the slow tests of one file in three, others at
# other commits.
test-all: setup
	$(MAKE) --no-print-directory --jobs 2 test WHICH='-m "not field" $(if $(TURNS),-p tests.turns --turns $(TURNS))'
	$(MAKE) --no-print-directory --jobs 3 --output-sync=target test-versions test-programs field-quick
	$(BIN)/python -m benchmarks --check

test-versions: setup
	$(BIN)/python tests/other_versions.py
	$(BIN)/python tests/dependency_versions.py --turn

# Each extra with the newest versions of today and with the lowest that pyproject.toml allows, by itself and all together;
# EXTRAS="hub mcp": only these. CI tries one of them, another for each commit.
test-latest: setup
	$(BIN)/python tests/dependency_versions.py latest $(EXTRAS)

test-lowest: setup
	$(BIN)/python tests/dependency_versions.py lowest $(EXTRAS)

test-programs: setup
	$(BIN)/python tests/newcomer.py
	$(BIN)/python tests/readers.py
	$(BIN)/python tests/on_ray.py

# Which lines of src/ the tests run in their own process; what they start as programs is not counted.
coverage: setup
	$(PYTEST) --cov --cov-report=term-missing:skip-covered $(PYTEST_ARGS)

# The faults of tests/faults, with properties tried 150 times as often: about an hour on two cores. It ends with what
# was tried how often.
faults: setup
	FAULTS=150 $(PYTEST) $(PYTEST_ARGS) tests/faults

# Servers that nobody here wrote, with a real model: docs/servers.md says what came of it (python -m tests.field.document).
# SERVERS="litellm portkey": only these. field-quick: what fits into the time of CI.
field: setup
	$(BIN)/python -m tests.field $(SERVERS)

field-quick: setup
	$(BIN)/python -m tests.field --quick

test-ray: setup
	$(BIN)/python tests/on_ray.py

# The pages of docs/ as a site with search, in build/site. Strict: a dead link or an orphan page fails it.
docs: setup
	$(BIN)/python -m tests.site

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.import_circles

# PEERS=1: other programs on the same work. MILLION=1: a run of a million trials too, which takes minutes.
# ONLY=load, ONLY=peers: nothing but these.
BENCH = $(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY),$(if $(PEERS),--peers) $(if $(MILLION),--million)) $(BENCH_ARGS)

bench: setup
	$(BENCH)

# Ratios against limits, about a minute.
bench-check: setup
	$(BIN)/python -m benchmarks --check

# Everything, or ONLY a part, and docs/performance.md with its tables and its plot.
bench-document: PEERS = 1
bench-document: MILLION = 1
bench-document: setup
	$(BENCH) --json build/performance.json
	$(BIN)/python -m benchmarks.document build/performance.json

setup: $(VENV)/ready

# If a locked package moved, one line says which.
$(VENV)/ready: requirements/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Benchwright needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python tests/locked_install.py requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# The lock files anew, with the newest versions, and what changed. ONLY="dev docs": these files; PACKAGES="numpy": only
# these packages; KEEP=1: only what pyproject.toml and the .in files demand now.
requirements: setup
	$(BIN)/python tests/lock_files.py $(if $(KEEP),--keep) $(addprefix --package ,$(PACKAGES)) $(ONLY)

# A release in build/release, tried; all but the tag and the upload: docs/releasing.md. VERSION=0.2.0
release: setup
	$(BIN)/python tests/release.py $(VERSION)

clean:
	rm -rf $(VENV) .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis
