"""Which jobs a kind re-runs: those whose option names it, and no others."""

from functools import cache

import pytest
from invalidation_table import EXTRACTS, LOADS_LM
from test_stage_contract import Named
from tests.support.project import ROOT, copy_project
from tests.support.rules import read_rules

from secateur.config import code as source_code
from secateur.config import compose
from secateur.stage import provenance

BASE = {"corpus": "toy_documents", "dataset": "toy_documents", "extractor": "openie"}
BASE |= {"rankers": "sentences", "reranker": "none", "assembly": "default", "memory": "none"}
BASE |= {"shard": "0of1", "file": "locomo10.json", "imported": "rankers", "order": "blind", "lm": "smollm2"}
BASE |= {"embedder": "minilm", "pick": "title_zsum", "peer": "raptor", "service": "controlled"}
NESTED = "scorers: {mine: {kind: zsum, lexical: {kind: tfidf}}}\n"  # in a list of its own, so nothing else names tfidf
OTHERS = {  # more lists of rankers
    "nested": NESTED,
    "mine": "scorers: {mine: {kind: mypackage.ranker}}\n",
}
PACKAGE = {"__init__": "", "other": "", "helper": "", "ranker": "from mypackage import helper\n"}


class Jobs:
    """The rules of a copy of the project, asked for the code of a job of each option that names plug-ins."""

    def __init__(self, root, rules) -> None:
        self.root, self.library = root, root / "workflow/secateur"
        self.rules = {rule.name: rule for rule in rules if "code" in dict(rule.params.items())}
        self.modules = cache(self._modules)

    def codes(self, group: str) -> dict[tuple[str, str], str]:
        """(rule, option of the group) -> the `code` param, read anew from the files."""
        for remembered in (provenance.code_digest, source_code.plugin_digest, source_code.imports, provenance._rules):
            remembered.cache_clear()
        return {
            (name, option): dict(rule.params.items())["code"](self._wildcards(rule, {group: option}))
            for option in compose.names(self.root / "conf", group)
            for name, rule in self.rules.items()
        }

    def _modules(self, group: str) -> dict[tuple[str, str], set[str]]:
        """(rule, option of the group) -> the modules that the job's code digest covers."""

        def covered(rule, root, plugins=()):
            return " ".join(name for name, _ in provenance._parts(rule, root, plugins))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(provenance, "note_code", lambda *_: None)
            patch.setattr(provenance, "code_digest", cache(covered))
            return {job: set(code.removeprefix("code=").split()) for job, code in self.codes(group).items()}

    @staticmethod
    def _wildcards(rule, changed: dict[str, str]) -> Named:
        options = dict.fromkeys(rule.wildcard_names, "default") | BASE | changed
        options["ranking"] = "lexical/{embedder}.{rankers}".format(**options)
        options["book"] = "{extractor}.{embedder}.default.blind.default".format(**options)
        options["source"] = "contexts/graph/{book}.default/graph/{reranker}/own/{assembly}.{lm}".format(**options)
        return Named({name: options[name] for name in rule.wildcard_names})

    def using(self, group: str, module: str) -> dict[str, set[str]]:
        """By rule, the options of a group with whose jobs' code a module is; rules that use it with none are left out."""
        found: dict[str, set[str]] = {}
        for (rule, option), modules in self.modules(group).items():
            if module in modules:
                found.setdefault(rule, set()).add(option)
        return found

    def changed(self, group: str, edit) -> dict[str, set[str]]:
        before = self.codes(group)
        edit()
        found: dict[str, set[str]] = {}
        for (rule, option), code in self.codes(group).items():
            if code != before[rule, option]:
                found.setdefault(rule, set()).add(option)
        return found


def add_statement(path) -> None:
    """One statement more in a file, which is created where there is none."""
    with path.open("a", encoding="utf-8") as file:
        file.write("\nADDED = 1\n")


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """The rules as Snakemake reads them; in the copy are more lists of rankers, new files, and a package beside it."""
    root = copy_project(tmp_path_factory.mktemp("kinds") / "project").root
    for name, text in OTHERS.items():
        (root / f"conf/rankers/{name}.yaml").write_text(f"{text}suffixes: []\nneighbour: 0\nkeep: 9\n")
    for folder in FOLDERS:
        add_statement(root / "workflow/secateur" / folder / "brand_new.py")
    (root.parent / "mypackage").mkdir()
    for name, text in PACKAGE.items():
        (root.parent / f"mypackage/{name}.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root.parent))
        with read_rules(root, "smoke") as workflow:
            yield Jobs(root, workflow.rules)


FOLDERS = {  # the group whose options name the kinds of a folder
    "datasets/formats": "corpus",
    "graph/triples/extractors": "extractor",
    "ranking/scorers": "rankers",
    "graph/walks": "retriever",
    "ranking/rerankers": "reranker",
    "peers/adapters": "peer",
    "contexts/forms": "assembly",
    "ecs/scores": "rankers",
    "evaluation/metrics": "dataset",
    "models/readers": "lm",
}
WRITES = ("assemble_contexts", "build_preferences", "recall_context")  # contexts, and those of a session
READS = LOADS_LM - {"judge_answers", "rerank_passages"}
STEM = {"stem", "stem_dev", "stem_old", "stem_old_test"}
LISTS = {*compose.names(ROOT / "conf", "rankers"), *OTHERS}  # of rules that no list decides
PARAPHRASED = {"medical_sample", "medical_v1", "medical_v2", "novel_sample", "novel_v1", "novel_v2"}
EDITS = {
    ("corpus", "datasets/formats/stem"): {"prepare_corpus": {"stem"}},
    ("dataset", "datasets/formats/stem"): {"prepare_dataset": STEM},
    ("extractor", "graph/triples/extractors/rebel"): {key: {"rebel"} for key in EXTRACTS},
    ("extractor", "graph/triples/extractors/imported"): {
        key: {"hipporag_musique", "lightrag_medical"} for key in EXTRACTS
    },
    ("rankers", "ranking/scorers/linear_rag"): {"rank_passages": {"multihop_linear"}},
    ("retriever", "graph/walks/beam"): {"rank_by_graph": {"beam"}},
    ("rankers", "ranking/scorers/tfidf"): {"rank_passages": {"turns", "utility", "nested"}},  # in another's settings
    ("rankers", "ranking/scorers/import"): {},
    ("rankers", "ecs/scores/pmi_q"): {"combine_scores": {"ecs_table1", "utility"}}
    | dict.fromkeys(("check_red_herrings", "select_greedily"), LISTS),
    ("reranker", "ranking/rerankers/pmi_q"): {"rerank_passages": {"pmi_q"}},
    ("assembly", "contexts/forms/lines"): {key: {"lines"} for key in WRITES},
    ("assembly", "contexts/forms/_symbols"): {key: {"lines", "paper"} for key in WRITES},  # what they import
    ("dataset", "evaluation/metrics/semantic"): {"evaluate_contexts": PARAPHRASED},
    ("lm", "models/readers/vllm"): {rule: {"vllm_qwen2_5_7b"} for rule in READS},
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_new_file_in_a_family_is_the_code_of_no_job(jobs, folder):
    assert jobs.using(FOLDERS[folder], f"secateur.{folder.replace('/', '.')}.brand_new") == {}


@pytest.mark.parametrize(("group", "name"), EDITS)
def test_the_code_of_a_job_is_that_of_the_plug_ins_that_its_option_names(jobs, group, name):
    assert jobs.using(group, f"secateur.{name.replace('/', '.')}") == EDITS[group, name]


@pytest.mark.parametrize(("module", "options"), [("ranker", {"mine"}), ("helper", {"mine"}), ("other", set())])
def test_so_is_that_of_modules_outside_the_project(jobs, module, options):
    assert jobs.using("rankers", f"mypackage.{module}") == ({"rank_passages": options} if options else {})


def test_a_metric_is_the_code_of_no_model(jobs):
    rules = set(jobs.using("reranker", "secateur.evaluation.metrics.token_recall"))
    assert rules == {"evaluate_contexts", "evaluate_answers", "replay_sessions", "compare_variants", "build_report"}


def test_an_edit_reruns_the_jobs_whose_code_it_is_and_no_cache_of_another_plug_in(jobs):
    def digest(name: str) -> str:
        return source_code.plugin_digest.__wrapped__(f"secateur.{name}", jobs.library)

    extractor, name = digest("graph.triples.extractors.openie"), "ranking/rerankers/pmi_q"
    assert jobs.changed("reranker", lambda: add_statement(jobs.library / f"{name}.py")) == EDITS["reranker", name]
    assert digest("graph.triples.extractors.openie") == extractor
    edited = jobs.changed("rankers", lambda: add_statement(jobs.root.parent / "mypackage/helper.py"))
    assert edited == {"rank_passages": {"mine"}}


def test_an_edit_of_the_reader_that_a_reranker_reads_with_reruns_it(jobs):
    reader = dict(jobs.rules["rerank_passages"].params.items())["reader"]
    before = [reader(Named(reranker=name)) for name in ("pmi_q", "none")]
    add_statement(jobs.library / "models/readers/transformers.py")
    for remembered in (source_code.plugin_digest, source_code.imports):
        remembered.cache_clear()
    after = [reader(Named(reranker=name)) for name in ("pmi_q", "none")]
    assert after[0] != before[0]
    assert after[1] == before[1]
