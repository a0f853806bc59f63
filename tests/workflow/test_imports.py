"""Where a line may stand: modules import downwards, rules and scripts hold no logic."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "workflow" / "secateur"

# Bottom up: a module imports only what stands in an earlier line. A line is one floor; the modules of a
# package or of one line may import each other.
ORDER = [
    "core.errors core.distinct core.layout core.redaction core.shards",
    "core.fields core.artifacts core.tables.* models.words",
    "core.cache cluster.states cluster.submit",
    "cluster.leftovers cluster.resources",
    "config.* stage.provenance",
    "models.*",
    "datasets.*",
    "graph.triples.*",
    "ecs.*",
    "answers.*",
    "judging.*",
    "contexts.*",
    "peers.wire peers.tracing peers.documents peers.environment peers.worker",
    "peers.adapters.*",
    "peers.*",
    "evaluation.folds evaluation.resampling",
    "ranking.*",
    "policy.*",
    "evaluation.*",
    "graph.consolidation.guards",
    "graph.consolidation.*",
    "graph.codebook graph.runs graph.export",
    "graph.embedding graph.segmenting",
    "graph.material",
    "graph.mentions graph.walkable",
    "graph.retrieval.*",
    "graph.walks.*",
    "graph.lemmas",
    "memory.*",
    "report.plots report.drawing report.forest report.browser report.timed",
    "report.format",
    "report.finding",
    "report.kept",
    "report.results",
    "report.sections.*",
    "report.page",
    "stage.ledger",
    "planning.*",
    "report.turns report.runs report.question report.compare report.figures report.tracking report.paper",
    "report.reference report.panel",
    "report.doctor",
    "stage.contract",
    "cluster.*",
    "library.*",
    "commands.*",
    "cli",
]
GLUE = {
    "cluster.resources": {"snakemake"},
    "cluster.executor": {"snakemake"},
    "cluster.needs": {"snakemake"},
    "config.compose": {"hydra", "omegaconf"},
    "report.tracking": {"mlflow"},
}  # the one that asks a cluster, the one that composes, the one that tracks
FORBIDDEN = {"snakemake", "hydra", "omegaconf", "mlflow"}

MODULES = {
    str(path.relative_to(LIBRARY).with_suffix("")).replace("/", "."): path
    for path in sorted(LIBRARY.rglob("*.py"))
    if path.name != "__init__.py"
}
SCRIPTS = sorted(path.stem for path in (ROOT / "scripts").glob("*.py"))


def imported(path: Path) -> set[str]:
    """Full names that a file imports, inside functions too; of `from a import b` both `a` and `a.b`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def floor(module: str) -> int:
    """The place of a module in ORDER: its own, else that of the nearest package above it."""
    parts = module.split(".")
    for name in (module, *(".".join(parts[:n]) + ".*" for n in range(len(parts) - 1, 0, -1))):
        places = [n for n, line in enumerate(ORDER) if name in line.split()]
        if places:
            assert len(places) == 1, f"{name} stands on {len(places)} floors of ORDER; put it on one"
            return places[0]
    raise AssertionError(f"{module} stands on no floor of ORDER; put it on one")


def used(path: Path) -> set[str]:
    """The library modules a file imports."""
    names = {name.removeprefix("secateur.") for name in imported(path) if name.startswith("secateur.")}
    return names & set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_downwards_only(module):
    above = {name for name in used(MODULES[module]) if floor(name) > floor(module)}
    assert above == set(), f"{module} imports {sorted(above)}, which stand above it"


@pytest.mark.parametrize("module", MODULES)
def test_no_module_imports_a_stage(module):
    assert not {name for name in imported(MODULES[module]) if name.split(".")[0] == "scripts"}


@pytest.mark.parametrize("module", MODULES)
def test_only_config_knows_hydra_only_tracking_mlflow_and_nobody_snakemake(module):
    roots = {name.partition(".")[0] for name in imported(MODULES[module])}
    assert roots & FORBIDDEN <= GLUE.get(module, set())


def test_package_files_hold_a_docstring_at_most():
    """The code digest does not read them. The library's own is its face, which no stage looks at."""
    for path in set(LIBRARY.rglob("__init__.py")) - {LIBRARY / "__init__.py"}:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        assert all(isinstance(node, ast.Expr) for node in body), path


def test_no_module_imports_the_face_of_the_library():
    for name, path in MODULES.items():
        if not name.startswith(("commands", "cli")):
            assert not re.search(r"^(import secateur$|from secateur import )", path.read_text(), re.M), name


# --- rules and scripts ---------------------------------------------------------------------------


def rules() -> dict[str, str]:
    """Each rule's text by name."""
    found = {}
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        for block in re.split(r"\n(?=rule |checkpoint )", path.read_text(encoding="utf-8"))[1:]:
            name = re.match(r"\w+ (\w+):", block).group(1)
            assert name not in found
            found[name] = re.split(r"\n(?=\S)", block)[0]
    return found


TEXTS = rules()


def directive(rule: str, name: str) -> str:
    """The text of one directive of a rule."""
    found = re.search(rf"^    {name}:(.*?)(?=^    \w+:|\Z)", TEXTS[rule], re.M | re.S)
    assert found, f"{rule} has no {name}"
    return found.group(1)


def test_each_rule_has_a_script_of_its_name_and_there_are_no_others():
    assert sorted(TEXTS) == SCRIPTS


@pytest.mark.parametrize("rule", TEXTS)
def test_a_rule_names_its_script_and_log_after_itself(rule):
    assert f'"../../scripts/{rule}.py"' in directive(rule, "script")
    assert re.search(rf'"logs/{rule}/[^"]+\.log"', directive(rule, "log"))
    assert f'leaf_params("{rule}"' in re.sub(r"\(\s+", "(", directive(rule, "params"))


@pytest.mark.parametrize("rule", TEXTS)
def test_a_rule_declares_output_record_threads_and_message(rule):
    assert "run.json" in directive(rule, "output").rpartition("record=")[2]
    assert directive(rule, "threads").strip().isdigit()
    assert directive(rule, "message").strip()


@pytest.mark.parametrize("rule", TEXTS)
def test_a_rule_holds_no_logic_and_leaves_resources_to_the_profile(rule):
    assert not re.search(r"\blambda\b", TEXTS[rule])
    assert not re.search(r"^    (resources|retries|run|shell|conda|container):", TEXTS[rule], re.M)


@pytest.mark.parametrize("rule", SCRIPTS)
def test_a_script_is_a_stage_that_hands_its_job_to_the_contract_at_its_foot(rule):
    path = ROOT / "scripts" / f"{rule}.py"
    text = path.read_text(encoding="utf-8")
    assert "secateur.stage.contract.main" in imported(path)
    assert not {name for name in imported(path) if name.split(".")[0] == "scripts"}, "stages do not import each other"
    assert "\ndef run(cfg, inputs, outputs, ctx):\n" in text
    assert re.search(r'\n\nif "snakemake" in globals\(\):\n    main\(run, snakemake\)[^\n]*\n\Z', text)


# --- sizes and places ------------------------------------------------------------------------------


def lines(name: str) -> list[str]:
    return (ROOT / name).read_text(encoding="utf-8").splitlines()


def test_the_snakefile_is_a_table_of_contents():
    assert len(lines("Snakefile")) <= 50


def test_the_common_helpers_of_the_rules_fit_a_few_screens():
    assert len(lines("workflow/rules/common.smk")) <= 150


@pytest.mark.parametrize("module", MODULES)
def test_no_module_is_longer_than_400_lines(module):
    assert len(lines(MODULES[module])) <= 400


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "conf/system").glob("[!_]*.yaml")))
def test_a_system_says_in_a_few_lines_what_is_its_own(name):
    said = [line for line in lines(f"conf/system/{name}.yaml") if not line.startswith("#")]
    assert re.fullmatch(r"defaults: \[\w+, _self_\]", said[0])
    assert len(said) <= 6


def strings(path: Path) -> list[str]:
    """The strings of a file of Python, those in f-strings with `{` for what is filled in, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found.append("".join(part.value if isinstance(part, ast.Constant) else "{" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docs:
            found.append(node.value)
    return found


@pytest.mark.parametrize("path", [*MODULES.values(), *(ROOT / "scripts").glob("*.py")], ids=lambda path: path.stem)
def test_only_the_layout_and_the_rules_know_where_results_stand(path):
    paths = [text for text in strings(path) if text.startswith("results/{")]
    assert paths == [] or path == MODULES["core.layout"]
