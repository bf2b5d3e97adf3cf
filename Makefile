PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RIVALS := .venv-bench
ESLINT := $(VENV)/eslint/node_modules/.bin/eslint
NETWORKS ?= $(KLAFTER_DATA)/networks
bench: export KLAFTER_DATA ?= ../shared/data

.PHONY: help install demo wheel test slow axe lint eslint bench torture minimum docs clean clean-cache

help:
	@echo "make demo     set up, find the communities of a built-in network, write demo/report.html"
	@echo "make test     set up and run the tests"
	@echo "make slow     the tests that take more than ten seconds each"
	@echo "make axe      the accessibility checker that the browser tests use, by npm"
	@echo "make install  set up .venv with the package and all extras, and compile what a first fit needs"
	@echo "make lint     ruff, mypy, and eslint where npm can fetch it"
	@echo "make wheel    a wheel for this platform in dist, with compiled kernels in it"
	@echo "make docs     build the site in docs/_build/html, examples and all"
	@echo "make bench    the long measurements, saved in benchmarks/results"
	@echo "make torture  kills, hostile files and odd graphs by the thousand, saved in benchmarks/results"
	@echo "make minimum  the demo and every kernel with the lowest versions that pyproject.toml allows"
	@echo "make clean-cache  free the space that compiled kernels take"

install: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all,dev]"
	-$(BIN)/klafter warmup --first --quiet
	@touch $@

wheel: install
	KLAFTER_KERNELS=all $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

demo: install
	$(BIN)/klafter demo

test: install
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

slow: install
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

axe: install
	npm install --silent --no-audit --no-fund --prefix $(VENV)/axe axe-core@4

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(MAKE) --no-print-directory eslint

# without npm, or a network for it, tests/test_page_modules.py still compares the names of the modules
eslint: install
	@test -x $(ESLINT) || ! command -v npm >/dev/null || npm install --silent --no-audit --no-fund --fetch-retries 1 \
		--prefix $(VENV)/eslint eslint@9 || true
	@if test -x $(ESLINT); then echo $(ESLINT) .; $(ESLINT) .; \
		else echo "eslint is skipped: npm is absent or could not fetch it"; fi

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs,data]"
	@touch $@

# rivals ask for older versions of what klafter needs, so they have an environment of their own
$(RIVALS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@

bench: install $(RIVALS)/.ready
	$(BIN)/python benchmarks/quality.py
	$(BIN)/python benchmarks/remaining.py
	$(BIN)/python benchmarks/blend.py
	$(BIN)/python benchmarks/siblings.py
	$(RIVALS)/bin/python benchmarks/affinities.py --draws 2500
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/planted.py
	$(BIN)/python benchmarks/lfr.py
	$(BIN)/python benchmarks/scale.py 10000 100000 1000000 --lfr $(NETWORKS)/lfr_overlap_n1000_k28
	$(BIN)/python benchmarks/scale.py 10000 --degree 10 --seeds 3 --output benchmarks/results/scale_sparse_communities.json
	$(BIN)/python benchmarks/scale_figure.py
	$(BIN)/python benchmarks/online.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/reading.py
	$(RIVALS)/bin/python benchmarks/networks.py $(NETWORKS)
	$(RIVALS)/bin/python benchmarks/communities.py
	$(RIVALS)/bin/python benchmarks/features.py
	$(BIN)/python benchmarks/results_table.py --write

clean:
	rm -rf $(VENV) $(RIVALS) .venv-minimum build dist demo docs/_build docs/generated docs/gallery docs/sg_execution_times.rst
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis

# long and resumable: what is saved is not tried again
torture: install
	$(BIN)/python -m benchmarks.torture

# uv knows how to choose the lowest versions; pip does not
minimum:
	$(PYTHON) -m venv .venv-minimum
	.venv-minimum/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-minimum/bin/uv pip install --quiet --python .venv-minimum/bin/python --resolution lowest-direct \
		--editable ".[report,data,excel,tables,scale]"
	.venv-minimum/bin/klafter demo
	.venv-minimum/bin/klafter warmup --quiet

clean-cache:
	find src tests benchmarks -name '*.nb[ic]' -delete
	$(BIN)/klafter warmup --clear
