"""The rules, loaded once, and every job of one small experiment under whatever the configuration says.

The jobs are those that Snakemake would find: from the files that `all` wants back, each to the rule that makes it, that
rule's inputs, and so on. Nothing here knows a path or a rule's place.
"""

from functools import cache
from pathlib import Path

import pytest
from tests.support.project import copy_project
from tests.support.rules import read_rules

from secateur.config import code as source_code
from secateur.planning import plan
from secateur.stage import provenance

ROOT = Path(__file__).parents[2]
RULES = {path.stem for path in (ROOT / "scripts").glob("*.py")}
EXPERIMENT = {"compare_variants", "build_report", "track_variants"}
MATRIX = """\
title: A data set of each kind, shipped and fetched
datasets: [toy_documents_smoke, toy_dialogue_smoke, stem_old_test, locomo, red_herrings]
systems: [rankers, title_zsum, graph_zsum, beam, ecs, oracle_evidence, remembered, compressed, elsewhere, hipporag2]
studies: [distractors, policy, sessions]
axes: {assembly: [lines], reranker: [pmi_q]}
exclude: []
answers: true
gains: true
judges: [smollm2, endpoint]
"""
OTHERS = {  # one more option of each group that has only one
    "extractor": "openie",
    "embedder": "minilm",
    "codebook": "default",
    "consolidation": "default",
    "lm": "smollm2",
    "rankers": "utility",
    "policy": "default",
}


class Matrix:
    """The rules of a copy of the project, and the answers of their functions under other settings."""

    def __init__(self, root: Path, workflow) -> None:
        self.root, self.rules = root, {rule.name: rule for rule in workflow.rules}
        self.names, self._before = workflow.globals, {}
        self.maker = cache(self._maker)

    def _maker(self, path: str):
        """The rule that makes a file, and its wildcards; no rule for a file that has to be there."""
        made = [rule for rule in self.rules.values() if rule.is_producer(path)]
        assert len(made) <= 1, f"{path} is made by {[rule.name for rule in made]}"
        return (made[0], made[0].get_wildcards(path)) if made else (None, {})

    def jobs(self, *overrides: str) -> dict[str, set]:
        """By rule: (wildcards, params, inputs) of every job of the experiment."""
        from snakemake.iocontainers import Wildcards

        self.names["OVERRIDES"] = overrides
        self.names["VARIANTS"] = self.names["plan"].variants(self.names["CONF"], "matrix", overrides)
        found, seen = {name: set() for name in RULES}, set()
        wanted = [str(path) for path in self.rules["all"].input]
        while wanted:
            rule, own = self.maker(wanted.pop())
            job = (rule and rule.name, tuple(sorted(own.items())))
            if rule and job not in seen:
                seen.add(job)
                wildcards = Wildcards(fromdict=own)
                inputs = tuple(map(str, rule.expand_input(wildcards)[0]))
                params = (value(wildcards) if callable(value) else value for _, value in sorted(rule.params.items()))
                found[rule.name].add((job[1], tuple(params), inputs))
                wanted += inputs
        return found

    def rerun(self, *overrides: str, given: tuple[str, ...] = ()) -> set[str]:
        """Rules with a job that is new or has other params or inputs under the overrides, others given anyway."""
        if given not in self._before:  # the same for most of the table
            self._before[given] = self.jobs(*given)
        before, after = self._before[given], self.jobs(*given, *overrides)
        return {name for name in RULES if after[name] - before[name]}

    def params(self) -> list[str]:
        return [text for jobs in self.jobs().values() for _, params, _ in jobs for text in params]

    def modules(self) -> dict[str, set[str]]:
        parts = {rule: provenance._parts(rule, self.root, ()) for rule in RULES}
        named = {rule: {name.removeprefix("secateur.") for name, _ in parts[rule]} for rule in RULES}
        return {rule: {name for name in names if " " not in name and "/" not in name} for rule, names in named.items()}

    def digests(self) -> dict[str, str]:
        for remembered in (provenance.code_digest, source_code.imports, provenance._rules):
            remembered.cache_clear()
        return {name: provenance.code_digest(name, self.root) for name in RULES}

    def edited(self, texts: dict[str, str]) -> set[str]:
        """Rules whose code digest other texts of some files change; the files are put back."""
        before, kept = self.digests(), {name: (self.root / name).read_text(encoding="utf-8") for name in texts}
        assert all(texts[name] != kept[name] for name in texts)
        try:
            for name, text in texts.items():
                (self.root / name).write_text(text, encoding="utf-8")
            after = self.digests()
        finally:
            for name, text in kept.items():
                (self.root / name).write_text(text, encoding="utf-8")
        return {rule for rule in RULES if after[rule] != before[rule]}


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    root = copy_project(tmp_path_factory.mktemp("matrix") / "project").root
    (root / "conf/experiment/matrix.yaml").write_text(MATRIX)
    (root / "conf/system/elsewhere.yaml").write_text("defaults: [_default, _self_]\ncontexts: data/elsewhere.jsonl\n")
    (root / "data/elsewhere.jsonl").touch()
    for group, option in OTHERS.items():
        (root / f"conf/{group}/other.yaml").write_text(f"defaults: [{option}, _self_]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "variant_problems", lambda *_: [])  # half of the time; tests of the plan look for them
        with read_rules(root, "matrix") as workflow:
            yield Matrix(root, workflow)
