"""Which jobs a kind re-runs: those whose option names it, and no others."""

import polars as pl
import pytest
from tests.support.project import copy_project

from secateur.config import compose
from secateur.stage import provenance

GROUPS = (
    "lm",
    "corpus",
    "dataset",
    "extractor",
    "rankers",
    "retriever",
    "reranker",
    "assembly",
)  # whose options name kinds
BASE = {
    "corpus": "toy_documents",
    "dataset": "toy_documents",
    "extractor": "openie",
    "rankers": "sentences",
    "reranker": "none",
    "assembly": "default",
    "memory": "none",
    "shard": "0of1",
    "file": "locomo10.json",
    "imported": "rankers",
    "order": "blind",
    "lm": "smollm2",
    "embedder": "minilm",
    "pick": "title_zsum",
    "peer": "raptor",
    "service": "controlled",
}
NESTED = "scorers: {mine: {kind: zsum, lexical: {kind: tfidf}}}\n"  # in a list of its own, so nothing else names tfidf
OTHERS = {
    "nested": NESTED,
    "mine": "scorers: {mine: {kind: mypackage.ranker}}\n",
    "scored": "scorers: {}\nscores: {mine: {kind: js}}\n",
}
PACKAGE = {"__init__": "", "other": "", "helper": "", "ranker": "from mypackage import helper\n"}


class Wildcards(dict):
    """A job's wildcards, as attributes and as a mapping."""

    __getattr__ = dict.__getitem__


class Jobs:
    """The rules of a copy of the project, asked for the code digest of a job of each option that names kinds."""

    def __init__(self, root, rules) -> None:
        self.root, self.library = root, root / "workflow/secateur"
        self.rules = {rule.name: rule for rule in rules if "code" in dict(rule.params.items())}

    def codes(self, group: str) -> dict[tuple[str, str], str]:
        """(rule, option of the group) -> digest, read anew from the files."""
        for remembered in (provenance.code_digest, provenance.plugin_digest, provenance.imports, provenance._rules):
            remembered.cache_clear()
        return {
            (name, option): dict(rule.params.items())["code"](self._wildcards(rule, {group: option}))
            for option in compose.names(self.root / "conf", group)
            for name, rule in self.rules.items()
        }

    @staticmethod
    def _wildcards(rule, changed: dict[str, str]) -> Wildcards:
        options = dict.fromkeys(rule.wildcard_names, "default") | BASE | changed
        options["ranking"] = "lexical/{embedder}.{rankers}".format(**options)
        options["book"] = "{extractor}.{embedder}.default.blind.default".format(**options)
        options["source"] = "contexts/graph/{book}.default/graph/{reranker}/own/{assembly}.{lm}".format(**options)
        return Wildcards({name: options[name] for name in rule.wildcard_names})

    def edited(self, group: str, path) -> dict[str, set[str]]:
        """By rule, the options of a group whose jobs a statement more in a file re-runs; the file is put back."""
        before, kept = self.codes(group), path.read_text(encoding="utf-8") if path.exists() else None
        try:
            path.write_text((kept or '"""A kind."""\n') + "\nADDED = 1\n", encoding="utf-8")
            after = self.codes(group)
        finally:
            path.unlink() if kept is None else path.write_text(kept, encoding="utf-8")
        found: dict[str, set[str]] = {}
        for rule, option in before:
            if after[rule, option] != before[rule, option]:
                found.setdefault(rule, set()).add(option)
        return found


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """The rules as Snakemake reads them, with two lists of rankers more, and a package outside the project."""
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

    root = copy_project(tmp_path_factory.mktemp("kinds") / "project").root
    for name, text in OTHERS.items():
        (root / f"conf/rankers/{name}.yaml").write_text(f"{text}suffixes: []\nneighbour: 0\nkeep: 9\n")
    (root.parent / "mypackage").mkdir()
    for name, text in PACKAGE.items():
        (root.parent / f"mypackage/{name}.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch, SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        patch.syspath_prepend(str(root.parent))
        workflow = api.workflow(
            ResourceSettings(cores=1),
            config_settings=ConfigSettings(config={"experiment": "smoke"}),
            snakefile=root / "Snakefile",
            workdir=root,
        )._workflow
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
EXTRACTS = ("extract_triples", "encode_questions", "build_preferences", "recall_context")  # corpus, questions, answers
WRITES = ("assemble_contexts", "build_preferences", "recall_context")  # contexts, and those of a session
STEM = {"stem", "stem_dev", "stem_dev_shuffled", "stem_old", "stem_old_shuffled", "stem_old_test"}
READS = {  # rules whose stage loads the reader
    "answer_questions",
    "build_preferences",
    "check_red_herrings",
    "evaluate_answers",
    "measure_answer_gain",
    "recall_context",
    "score_candidates",
    "select_greedily",
}
PARAPHRASED = {"medical_sample", "medical_v1", "medical_v2", "novel_sample", "novel_v1", "novel_v2"}
LISTS = {
    "controls",
    "mine",
    "multihop",
    "nested",
    "scored",
    "sentences",
    "turns",
    "utility",
}  # of rules that no list decides
EDITS = {
    ("corpus", "datasets/formats/stem"): {"prepare_corpus": {"stem", "stem_shuffled"}},
    ("dataset", "datasets/formats/stem"): {"prepare_dataset": STEM},
    ("extractor", "graph/triples/extractors/rebel"): {key: {"rebel"} for key in EXTRACTS},
    ("extractor", "graph/triples/extractors/imported"): {
        key: {"hipporag_musique", "lightrag_medical"} for key in EXTRACTS
    },
    ("rankers", "ranking/scorers/random"): {"rank_passages": {"turns"}},
    ("rankers", "ranking/scorers/lucene"): {"rank_passages": {"multihop", "sentences"}},
    ("rankers", "ranking/scorers/two_step"): {"rank_passages": {"multihop"}},
    ("retriever", "graph/walks/beam"): {"rank_by_graph": {"beam", "beam_names", "beam_phrases", "beam_plain"}},
    ("retriever", "graph/walks/pagerank"): {"rank_by_graph": {"pagerank"}},
    ("rankers", "ranking/scorers/tfidf"): {
        "rank_passages": {"turns", "utility", "nested"}
    },  # inside another's settings
    ("rankers", "ranking/scorers/import"): {},
    ("rankers", "ecs/scores/js"): {
        "combine_scores": {"utility", "scored"},
        "check_red_herrings": LISTS,
    },
    ("rankers", "ecs/scores/pmi_q"): {"combine_scores": {"utility"}}
    | dict.fromkeys(("check_red_herrings", "select_greedily"), LISTS),
    ("reranker", "ranking/rerankers/pmi_q"): {"rerank_passages": {"pmi_q", "pmi_q_given"}},
    ("assembly", "contexts/forms/lines"): {key: {"lines"} for key in WRITES},
    ("assembly", "contexts/forms/_symbols"): {
        key: {"cheapest", "ids", "lines", "matrix", "paper", "words"} for key in WRITES
    },  # what they import
    ("dataset", "evaluation/metrics/semantic"): {"evaluate_contexts": PARAPHRASED},
    ("lm", "models/readers/vllm"): {rule: {"vllm_qwen2_5_7b"} for rule in READS},
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_new_file_in_a_family_reruns_nothing(jobs, folder):
    assert jobs.edited(FOLDERS[folder], jobs.library / folder / "brand_new.py") == {}


@pytest.mark.parametrize(("group", "name"), EDITS)
def test_an_edit_reruns_the_jobs_whose_option_names_the_kind(jobs, group, name):
    assert jobs.edited(group, jobs.library / f"{name}.py") == EDITS[group, name]


def test_so_does_an_edit_of_the_reader_that_a_reranker_reads_with(jobs):
    reader = dict(jobs.rules["rerank_passages"].params.items())["reader"]
    path = jobs.library / "models/readers/transformers.py"
    kept, before = path.read_text(), [reader(Wildcards(reranker=name)) for name in ("pmi_q", "none")]
    path.write_text(kept + "\nADDED = 1\n")
    for remembered in (provenance.plugin_digest, provenance.imports):
        remembered.cache_clear()
    after = [reader(Wildcards(reranker=name)) for name in ("pmi_q", "none")]
    path.write_text(kept)
    assert after[0] != before[0]
    assert after[1] == before[1]


@pytest.mark.parametrize(("name", "found"), [("ranker", {"mine"}), ("helper", {"mine"}), ("other", set())])
def test_so_does_an_edit_outside_the_project(jobs, name, found):
    edited = jobs.edited("rankers", jobs.root.parent / f"mypackage/{name}.py")
    assert edited == ({"rank_passages": found} if found else {})


def test_a_metric_reruns_no_model_and_no_cache_knows_it(jobs):
    metric = jobs.library / "evaluation/metrics/token_recall.py"
    edited = set(jobs.edited("reranker", metric))
    assert edited == {"evaluate_contexts", "evaluate_answers", "replay_sessions", "compare_variants", "build_report"}
    assert not edited & {
        "extract_triples",
        "encode_questions",
        "rank_passages",
        "assemble_contexts",
        "answer_questions",
    }
    extractor = provenance.plugin_digest.__wrapped__("secateur.graph.triples.extractors.openie", jobs.library)
    with metric.open("a") as file:
        file.write("\nADDED = 1\n")
    assert provenance.plugin_digest.__wrapped__("secateur.graph.triples.extractors.openie", jobs.library) == extractor


OUTSIDE = """\
from dataclasses import dataclass
from secateur.graph.triples.surface import Found, triples_of
from secateur.core.fields import key

@dataclass(frozen=True)
class Settings:
    relation: str = key("of every fact")

class FrontEnd:
    name, by_sentence = "outside", True

    def __init__(self, settings, ctx):
        self.identity = self.relation, = (settings.relation,)

    def __call__(self, texts, title):
        return Found(*triples_of([(t.split()[0], self.relation, t.split()[-1])] for t in texts))
"""


def test_code_outside_the_project_serves_as_an_extractor(project):
    package = project.root.parent / "elsewhere/mypackage"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "ends.py").write_text(OUTSIDE)
    option = "kind: mypackage.ends\nshards: 1\nblock: 8\nsettings: {relation: is tied to}\n"
    (project.root / "conf/extractor/mine.yaml").write_text(option)
    table = "results/toy_documents_smoke/triples/mine/0of1/triples.parquet"
    paths = f"{project.root / 'workflow'}:{project.root}:{package.parent}"
    asked = (table, "--config", "experiment=smoke", "overrides=[system.extractor=mine]")
    done = project.snakemake(*asked, PYTHONPATH=paths)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(pl.read_parquet(project.root / table)["relation"]) == {"is tied to"}

    (package / "ends.py").write_text(OUTSIDE + "\nADDED = 1\n")
    planned = project.snakemake(*asked, "-n", PYTHONPATH=paths).stdout
    assert "extract_triples" in planned and "prepare_corpus" not in planned
