"""Copies of the project to run and to edit; the repository itself is never written to."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from secateur.models.kernels import steady

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "workflow", "scripts", "conf", "envs", "profiles", "data", "docs", "pyproject.toml")
UNSEEN = shutil.ignore_patterns("__pycache__", "*.egg-info", "local.yaml")  # build output, one machine's settings
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


steady()  # before the first product of whichever test comes first
# No test depends on the clock: a busy machine is slow, not wrong.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@dataclass(frozen=True)
class Project:
    """A copy of the project; commands run in it, with its own library, without a network."""

    root: Path

    def run(self, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        """A command's output and exit code."""
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("MAKE", "MFLAGS", "MKL_", "SECATEUR_", "SLURM_", "SNAKEMAKE_"))
        }
        own = {
            "PYTHONPATH": f"{self.root / 'workflow'}{os.pathsep}{self.root}",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
        }
        # Scripts run as `python SCRIPT` of the PATH: the one of these tests.
        path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        return subprocess.run(
            command,
            cwd=self.root,
            env=kept | own | path | NO_NETWORK | env,
            capture_output=True,
            text=True,
            check=False,
        )

    def snakemake(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """`snakemake ARGS` here."""
        return self.run(sys.executable, "-m", "snakemake", "--cores", "2", *args, **env)

    def secateur(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """`secateur ARGS` here."""
        return self.run(sys.executable, "-c", "from secateur.cli import main; main()", *args, **env)

    def artifacts(self) -> set[str]:
        """Everything under results/ that another job could read; the ledger and a failure's record are none of it."""
        files = (path for path in (self.root / "results").rglob("*") if path.is_file())
        made = {str(path.relative_to(self.root)) for path in files if path.name != "failure.json"}
        return {path for path in made if not path.startswith("results/ledger/")}

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that stands exactly once in a file."""
        text = (self.root / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{name}: {old!r} stands there {text.count(old)} times"
        (self.root / name).write_text(text.replace(old, new), encoding="utf-8")


def copy_project(target: Path) -> Project:
    """The project's own files, without what was computed."""
    target.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, target / part, ignore=UNSEEN)
        else:
            shutil.copy2(source, target / part)
    (target / "slurm").symlink_to("profiles/slurm")
    return Project(target)


@pytest.fixture(scope="session", name="copy_project")
def _copy_project():
    """The function itself, for fixtures of other scopes."""
    return copy_project


@pytest.fixture(scope="session")
def project_at():
    """A function that gives the project in a folder, for fixtures elsewhere."""
    return Project


@pytest.fixture
def project(tmp_path) -> Project:
    """A copy in which nothing has run."""
    return copy_project(tmp_path / "project")


@pytest.fixture(scope="session")
def untouched(tmp_path_factory) -> Project:
    """The same for tests that write nothing."""
    return copy_project(tmp_path_factory.mktemp("untouched") / "project")


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """A function that makes a folder for all workers: the first one that asks for it fills it."""

    def made(name: str, make) -> Path:
        own = tmp_path_factory.getbasetemp()
        shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
        with FileLock(shared / f"{name}.lock"):
            if not (shared / f"{name}.done").exists():
                shutil.rmtree(shared / name, ignore_errors=True)  # of a worker that failed
                make(shared / name)
                (shared / f"{name}.done").touch()
        return shared / name

    return made


@pytest.fixture(scope="session")
def smoke(once) -> Project:
    """A copy in which the experiment `smoke` has run, one for all workers. Read only; `rerun` is the one to edit."""

    def make(target: Path) -> None:
        done = copy_project(target).snakemake("--profile", "profiles/smoke")
        assert done.returncode == 0, done.stdout + done.stderr

    return Project(once("smoke", make))


def _copied(source: str, target: str) -> None:
    """A copy of a file; converted weights, which nobody writes to again, are the same file."""
    (os.link if ".cache/models/" in source else shutil.copy2)(source, target)


@pytest.fixture(scope="session")
def copy_of():
    """A function that copies a project with what it has computed."""

    def copied(project: Project, target: Path) -> Project:
        shutil.copytree(project.root, target, symlinks=True, copy_function=_copied)
        return Project(target)

    return copied


@pytest.fixture
def rerun(smoke, copy_of, tmp_path) -> Project:
    """A copy of the finished smoke run, to edit and to run again."""
    return copy_of(smoke, tmp_path / "rerun")


# --- language models small enough to compare with one sequence at a time ---------------------------

WORDS = (
    "Mira treated a spaniel in Ghent . Jonas left his flat by June 1994 . Question: What had she swallowed? Answer: "
    'half a tennis ball "The Mill" yes Yes YES no No NO Passage: 0 1 2 3 4 5 6 7 8 9 ( ) : \n'
)
CHAT = "{% for m in messages %}<|user|>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"


def tiny_tokenizer(bos: bool, chat: bool):
    """Byte-level BPE trained on a few words; with a BOS token it adds itself, and a chat template, where asked for."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<|user|>", "<|assistant|>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    settings = {"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(), "show_progress": False}
    tokenizer.train_from_iterator([WORDS], trainers.BpeTrainer(vocab_size=400, special_tokens=special, **settings))
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    names = {"bos_token": "<s>"} if bos else {}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", **names)
    fast.chat_template = CHAT if chat else None
    return fast


def tiny_network(kind: str, tokens: int):
    """A random network of two layers; `gemma3_text` alternates full and sliding attention, `mistral` slides in all."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8}
    size |= {"num_key_value_heads": 2, "max_position_embeddings": 512, "vocab_size": tokens, "initializer_range": 0.3}
    own = {"gemma3_text": {"sliding_window": 12, "layer_types": ["sliding_attention", "full_attention"]}}
    own |= {"mistral": {"sliding_window": 12}}
    torch.manual_seed(3)
    config = AutoConfig.for_model(kind, **size, **own.get(kind, {}), pad_token_id=1, bos_token_id=0, eos_token_id=1)
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32)


@pytest.fixture(scope="session")
def tiny_lm():
    """A function that gives tiny models; one set of weights for each kind."""
    from functools import cache

    from secateur.models.causal import CausalLM

    known = cache(tiny_network)

    def make(kind: str = "llama", bos: bool = False, chat: bool = False, window: int = 256, pack: int = 64):
        tokenizer = tiny_tokenizer(bos, chat)
        return CausalLM(known(kind, 400), tokenizer, window, pack, f"tiny {kind}", kind)

    return make


@pytest.fixture(scope="session")
def ecs():
    """A function that gives the default `ecs` option with some keys changed."""
    from dataclasses import replace

    from secateur.config import compose

    return lambda **changes: replace(compose.option(ROOT / "conf", "ecs", "default"), **changes)


@pytest.fixture(scope="session")
def naive():
    """A function that reads one sequence by itself: float64 log-distributions (tokens, vocabulary) after each token."""
    import torch

    def distributions(lm, ids) -> np.ndarray:
        with torch.inference_mode():
            logits = lm.model(torch.tensor([list(ids)], device=lm.model.device)).logits[0].double().cpu().numpy()
        return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)

    return distributions
