# Everything runs in .venv, which is made from pyproject.toml with the exact versions of constraints.txt.
# With LOCKED=1, what is installed must have the hashes of constraints.lock, which is for Linux on x86_64 and Python 3.11.

BIN       := .venv/bin
INSTALLED := .venv/.installed
RIGHT     := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON    ?= $(shell for p in python3.11 python3; do $$p -c '$(RIGHT)' 2>/dev/null && echo $$p && break; done)
WORKERS   ?= 2
PIP       := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check
LOCK      := $(PIP) --no-deps -c constraints.txt torch && $(PIP) --no-deps --require-hashes -r constraints.lock

.PHONY: help demo test check docs notebooks gallery format models faults mutants fuzz clean

help:
	@echo "make demo     explain well-known molecules and write the result to .demo"
	@echo "make test     run all tests (WORKERS=2 processes; ARGS='-k graph' for some)"
	@echo "make check    lint, formatting and types"
	@echo "make docs     build the documentation as a site in .site; warnings are errors"
	@echo "make notebooks  run the notebooks of the documentation and store their output"
	@echo "make gallery  explain the molecules of docs/gallery.md and write the page anew"
	@echo "make format   put code into shape"
	@echo "make models   train the models that the package carries (needs GRAPHFLIP_DATA)"
	@echo "make faults   kill jobs and training, damage files, fill disks (ARGS='--only explain,train' for some)"
	@echo "make mutants  plant faults one at a time, and see which ones tests notice (resumable; ARGS='--minutes 40')"
	@echo "make fuzz     feed every parser with 10,000 damaged inputs (ARGS='csv card' for some)"
	@echo "make clean    remove .venv and everything generated"

demo: $(INSTALLED)
	@$(BIN)/graphflip demo --out .demo

test: $(INSTALLED)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: $(INSTALLED)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

docs: $(INSTALLED)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open .site/index.html"

notebooks: $(INSTALLED)
	@$(BIN)/python tools/notebooks.py $(ARGS)

gallery: $(INSTALLED)
	@$(BIN)/python tools/gallery.py $(ARGS)

format: $(INSTALLED)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

models: $(INSTALLED)
	@$(BIN)/python tools/make_models.py
	@$(BIN)/python tools/base_results.py

faults: $(INSTALLED)
	@OMP_NUM_THREADS=1 $(BIN)/python tools/faults $(ARGS)

mutants: $(INSTALLED)
	@OMP_NUM_THREADS=1 $(BIN)/python tools/mutants $(ARGS)

fuzz: $(INSTALLED)
	@$(PIP) -c constraints.txt -e '.[fuzz]'
	@OMP_NUM_THREADS=1 $(BIN)/python tools/fuzz.py $(ARGS)

clean:
	@rm -rf .venv .demo .site build dist .pytest_cache .ruff_cache .hypothesis
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamp is written last, so an interrupted installation is taken up again.
$(INSTALLED): pyproject.toml constraints.txt
	@if [ -z "$(PYTHON)" ]; then echo "graphflip needs Python 3.11 or newer: install it, or run make PYTHON=/path/to/python3.11" >&2; exit 1; fi
	@test -x $(BIN)/python || { echo "Making .venv with $$($(PYTHON) --version)"; $(PYTHON) -m venv .venv; }
	@echo "Installing graphflip and pinned packages into .venv (minutes the first time)"
	@if [ -n "$(LOCKED)" ]; then $(LOCK) && $(PIP) --no-index --no-build-isolation -e '.[all,dev]'; \
	else $(PIP) -c constraints.txt -e '.[all,dev]'; fi
	@touch $@
