"""Where a line may stand: modules import downwards, rules and scripts hold no logic."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "workflow" / "secateur"

# Bottom up: a module imports only what stands in an earlier line, or in its own.
ORDER = [
    "core.* models.words",
    "core.workspace cluster.states cluster.submit",
    "cluster.leftovers cluster.resources",
    "config.* stage.provenance",
    "models.*",
    "datasets.*",
    "graph.triples.*",
    "ecs.*",
    "answers.*",
    "judging.*",
    "contexts.*",
    "peers.wire peers.environment peers.worker",
    "peers.adapters.*",
    "peers.*",
    "evaluation.figure evaluation.folds evaluation.resampling",
    "ranking.*",
    "policy.*",
    "evaluation.*",
    "graph.*",
    "memory.*",
    "report.*",
    "stage.lineage stage.ledger stage.tracked stage.tracking",
    "planning.*",
    "report.compare",
    "report.recorded",
    "report.figures report.paper",
    "verification.*",
    "stage.contract stage.current",
    "cluster.*",
    "library.*",
    "commands.*",
    "cli",
]
FRAMEWORKS = {  # the modules that may import each of them
    "snakemake": {"cluster.resources", "cluster.executor", "cluster.needs", "cluster.quoting", "stage.current"},
    "hydra": {"config.compose"},
    "omegaconf": {"config.compose"},
    "mlflow": {"stage.tracking"},
}
FILE_LINES, ROOM_LINES = 350, 4500

MODULES = {
    str(path.relative_to(LIBRARY).with_suffix("")).replace("/", "."): path
    for path in sorted(LIBRARY.rglob("*.py"))
    if path.name != "__init__.py"
}
SCRIPTS = {path.stem: path for path in sorted((ROOT / "scripts").glob("*.py"))}
EMPTY: dict = {}


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(source(path))


@cache
def imported(path: Path) -> frozenset[str]:
    """Full names that a file imports, inside functions too; of `from a import b` both `a` and `a.b`."""
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def packages(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


def used(path: Path) -> set[str]:
    names = {name.removeprefix("secateur.") for name in imported(path) if name.startswith("secateur.")}
    return names & set(MODULES)


def floor(module: str) -> int:
    """Line of ORDER of a module: by its full name, else by the nearest package above it."""
    parts = module.split(".")
    for name in (module, *(".".join(parts[:n]) + ".*" for n in range(len(parts) - 1, 0, -1))):
        places = [n for n, line in enumerate(ORDER) if name in line.split()]
        if places:
            assert len(places) == 1, f"{name} stands on {len(places)} floors of ORDER; put it on one"
            return places[0]
    raise AssertionError(f"{module} stands on no floor of ORDER; put it on one")


def offenders(check, paths: dict[str, Path]) -> dict[str, list]:
    """By name, what a check finds wrong with a file; files without a finding are left out."""
    found = {name: sorted(check(name, path)) for name, path in paths.items()}
    return {name: wrong for name, wrong in found.items() if wrong}


def test_a_module_imports_downwards_only():
    def above(name: str, path: Path):
        return [other for other in used(path) if floor(other) > floor(name)]

    assert offenders(above, MODULES) == EMPTY


def test_no_two_rooms_import_each_other_not_even_by_way_of_a_third():
    rooms: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        room = name.partition(".")[0]
        rooms.setdefault(room, set()).update({other.partition(".")[0] for other in used(path)} - {room})
    TopologicalSorter(rooms).prepare()  # raises CycleError, which names the circle


def test_nothing_imports_a_stage():
    assert offenders(lambda _, path: packages(path) & {"scripts"}, MODULES | SCRIPTS) == EMPTY


def test_only_config_knows_hydra_only_tracking_mlflow_and_only_the_cluster_snakemake():
    def strangers(name: str, path: Path):
        return [package for package in packages(path) & set(FRAMEWORKS) if name not in FRAMEWORKS[package]]

    assert offenders(strangers, MODULES) == EMPTY


def test_package_files_hold_a_docstring_at_most():
    """The code digest does not read them. The library's own is its face, which no stage looks at."""
    for path in set(LIBRARY.rglob("__init__.py")) - {LIBRARY / "__init__.py"}:
        assert all(isinstance(node, ast.Expr) for node in tree(path).body), path


def test_no_module_imports_the_face_of_the_library():
    def faces(name: str, path: Path):
        face = re.findall(r"^(?:import secateur$|from secateur import )", source(path), re.M)
        return [] if name.startswith(("commands", "cli")) else face

    assert offenders(faces, MODULES) == EMPTY


# --- rules and scripts ---------------------------------------------------------------------------


def rules() -> dict[str, str]:
    texts = {}
    for path in sorted((ROOT / "workflow" / "rules").glob("*.smk")):
        for block in re.split(r"\n(?=rule |checkpoint )", source(path))[1:]:
            name = re.match(r"\w+ (\w+):", block).group(1)
            assert name not in texts
            texts[name] = re.split(r"\n(?=\S)", block)[0]
    return texts


def directive(text: str, name: str) -> str:
    """The text of one directive of a rule; nothing where it is missing."""
    found = re.search(rf"^    {name}:(.*?)(?=^    \w+:|\Z)", text, re.M | re.S)
    return found.group(1) if found else ""


def test_each_rule_has_a_script_of_its_name_and_there_are_no_others():
    assert sorted(rules()) == list(SCRIPTS)


def test_a_rule_is_named_after_itself_throughout_holds_no_logic_and_leaves_resources_to_the_profile():
    for name, text in rules().items():
        assert f'"../../scripts/{name}.py"' in directive(text, "script"), name
        assert re.search(rf'"logs/{name}/[^"]+\.log"', directive(text, "log")), name
        assert f'leaf_params("{name}"' in re.sub(r"\(\s+", "(", directive(text, "params")), name
        assert "run.json" in directive(text, "output").rpartition("record=")[2], name
        assert directive(text, "threads").strip().isdigit(), name
        assert directive(text, "message").strip(), name
        assert not re.search(r"\blambda\b", text), name
        assert not re.search(r"^    (resources|retries|run|shell|conda|container):", text, re.M), name


# --- sizes and places ------------------------------------------------------------------------------


def lines(path: Path) -> int:
    return len(source(path).splitlines())


def test_no_file_and_no_room_is_too_long():
    assert {name: lines(path) for name, path in (MODULES | SCRIPTS).items() if lines(path) > FILE_LINES} == EMPTY
    rooms: dict[str, int] = {}
    for name, path in MODULES.items():
        rooms[name.partition(".")[0]] = rooms.get(name.partition(".")[0], 0) + lines(path)
    assert {room: size for room, size in rooms.items() if size > ROOM_LINES} == EMPTY
