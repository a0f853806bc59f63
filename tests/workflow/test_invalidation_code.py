"""Exact invalidation: which rules an edit of the library, a script, a rule or a table's declaration re-runs."""

import ast
import dataclasses
import json
import sys

import pytest
from invalidation_matrix import ROOT, RULES
from invalidation_table import EMBEDS, LEARNT, MEASURES, SCORES_RUNS, WRITES

from secateur.config import code as source_code
from secateur.core.tables.catalog import TABLES

LIST = """
import importlib, json, pkgutil, sys
import secateur
from secateur.config.code import GLUE, is_glue
for name in GLUE:
    package = importlib.import_module(f"secateur.{name}")
    for below in pkgutil.iter_modules(getattr(package, "__path__", ())):
        importlib.import_module(f"secateur.{name}.{below.name}")
found = {}
for rule in sys.argv[1:]:
    loaded = [n for n in sys.modules if n.startswith("secateur.")]
    for name in [n for n in loaded if not is_glue(n.removeprefix("secateur."))]:
        parent, _, own = name.rpartition(".")
        vars(sys.modules[parent]).pop(own, None) if parent in sys.modules else None
        del sys.modules[name]
    __import__(f"scripts.{rule}")
    found[rule] = sorted(n.removeprefix("secateur.") for n in sys.modules if n.startswith("secateur."))
print(json.dumps(found))
"""
LIBRARY = ROOT / "workflow" / "secateur"
MODULES = sorted(
    str(path.relative_to(LIBRARY).with_suffix("")).replace("/", ".")
    for path in LIBRARY.rglob("*.py")
    if path.name != "__init__.py"
)


@pytest.fixture(scope="module")
def users(untouched) -> dict[str, set[str]]:
    """By module: the rules whose stage loads it, as the interpreter says; what only the glue needs is glue."""
    said = untouched.run(sys.executable, "-c", LIST, *sorted(RULES))
    assert said.returncode == 0, said.stderr
    loaded = json.loads(said.stdout)
    return {module: {rule for rule in RULES if module in loaded[rule]} for module in MODULES}


def source(matrix, module: str) -> tuple[str, str]:
    name = f"workflow/secateur/{module.replace('.', '/')}.py"
    return name, (matrix.root / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def covered(matrix) -> dict[str, set[str]]:
    by_rule = matrix.modules()
    return {module: {rule for rule in RULES if module in by_rule[rule]} for module in MODULES}


def test_a_rules_code_is_exactly_the_modules_that_its_stage_loads(covered, users):
    loaded = {module: set() if source_code.is_glue(module) else users[module] for module in MODULES}
    assert {module: rules for module, rules in covered.items() if rules != loaded[module]} == {}


NAMED = {
    "evaluation.resampling": {"compare_variants", "build_report"},
    "report.page": {"build_report"},
    "graph.runs": {"build_runs"},
    "graph.growth": {"measure_growth", "build_report"},
    "graph.retrieval.candidates": SCORES_RUNS,
    "graph.retrieval.ranking": {"rank_by_graph"},
    "contexts.assemble": {"assemble_contexts"},
    "contexts.imported": {"import_contexts"},
    "ranking.rank": {"rank_passages"},
    "models.embedder": EMBEDS,
    "datasets.description": {"describe_dataset"},
    "evaluation.evidence": MEASURES,
    "evaluation.rankings": {"compare_variants", "evaluate_selection"},
    "ranking.select": {"combine_scores", "rank_by_graph", "select_greedily", "select_context", "evaluate_selection"},
    "ecs.selection.pool": {"propose_passages", "score_candidates", "select_greedily"},
    "ecs.scoring.fusion": {"combine_scores", "select_greedily"},
    "ecs.answer_gain": {"measure_answer_gain", "evaluate_answers", "build_preferences", "recall_context"},
    "evaluation.answers": {"evaluate_answers", "build_preferences"},
    "answers.generate": WRITES | {"build_preferences", "judge_answers"},
    "memory.sessions": WRITES | {"build_preferences", "replay_sessions"},
    "memory.store": {"recall_context", "build_preferences"},
    "memory.transcript": {"recall_context", "replay_sessions"},
    "policy.utility": LEARNT,
    "policy.faithfulness": {"build_preferences"},
    "datasets.fetch": {"fetch_dataset"},
    "stage.contract": set(),
    "cli": set(),
}


def test_a_module_is_used_by_the_rules_one_would_name(covered):
    assert {module: covered[module] for module in NAMED} == NAMED


@pytest.mark.parametrize("module", ["evaluation.resampling", "ecs.selection.grow", "stage.contract"])
def test_a_statement_in_a_module_reruns_the_rules_whose_code_it_is(matrix, covered, module):
    name, text = source(matrix, module)
    assert matrix.edited({name: text + "\nADDED = 1\n"}) == covered[module]


def redocumented(text: str) -> str:
    """A source with other docstrings and more comments."""
    lines, said = text.splitlines(), []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            said.append(node.body[0])
    for one in sorted(said, key=lambda node: -node.lineno):
        lines[one.lineno - 1 : one.end_lineno] = [f'{" " * one.col_offset}"""Said otherwise."""']
    return "# A thought.\n" + "\n".join(lines) + "\n\n# Another.\n"


def test_comments_and_docstrings_in_the_library_rerun_nothing(matrix):
    sources = dict(source(matrix, module) for module in MODULES)
    assert matrix.edited({name: redocumented(text) for name, text in sources.items()}) == set()


def test_a_rules_own_comment_reruns_nothing_and_its_own_text_only_itself(matrix):
    name = "workflow/rules/graph.smk"
    text = (matrix.root / name).read_text()
    commented = "# Before.\n" + text.replace("    threads: 1\n", "    # Why.\n    threads: 1  # so\n")
    assert matrix.edited({name: commented}) == set()
    assert matrix.edited({name: text.replace("Build the runs of", "Runs of")}) == {"build_runs"}


def test_a_script_reruns_its_own_rule(matrix):
    name = "scripts/build_runs.py"
    text = (matrix.root / name).read_text()
    assert matrix.edited({name: text + "\nprint()\n"}) == {"build_runs"}
    assert matrix.edited({name: text + "\n# A thought.\n"}) == set()


def test_the_reports_template_reruns_the_report(matrix):
    name = "workflow/secateur/report/page.html.j2"
    assert matrix.edited({name: (matrix.root / name).read_text() + "\n<p>\n"}) == {"build_report"}


@pytest.mark.parametrize(
    ("change", "rules"),
    [({"version": 99}, {"rank_by_graph", "build_preferences", "recall_context"}), ({"doc": "Said otherwise."}, set())],
)
def test_a_tables_declaration_but_for_what_it_says_reruns_the_rules_that_write_or_read_it(
    matrix, monkeypatch, change, rules
):
    before = matrix.digests()
    monkeypatch.setitem(TABLES, "candidates", dataclasses.replace(TABLES["candidates"], **change))
    after = matrix.digests()
    assert {rule for rule in RULES if after[rule] != before[rule]} == rules


def test_code_has_one_text_under_every_version_of_python():
    """Versions from 3.12 on add fields to a function, from 3.13 on they leave out empty ones."""
    text = source_code.without_docs('class B(a.C):\n    "doc"\n    def f(self, *x, y=1):\n        return None\n')
    assert text == (
        "Module(body=[ClassDef(name='B', bases=[Attribute(value=Name(id='a', ctx=Load()), attr='C', ctx=Load())], "
        "body=[FunctionDef(name='f', args=arguments(args=[arg(arg='self')], vararg=arg(arg='x'), kwonlyargs=[arg(arg='y')], "
        "kw_defaults=[Constant(value=1)]), body=[Return(value=Constant())])])])"
    )
