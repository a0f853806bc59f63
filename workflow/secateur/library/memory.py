"""Texts in, contexts out: the pipeline's rankings and assemblies over texts in memory."""

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
from numpy.typing import NDArray

from secateur.config import plugins
from secateur.contexts.assemble import Assembly
from secateur.contexts.piece import Context, Material, Query, Ranked, text_of
from secateur.core.errors import SecateurError, one_of
from secateur.core.layout import NONE
from secateur.core.products import by_component
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.vectors import Packed
from secateur.graph.assembling import assembly_of
from secateur.graph.codebook import as_shown, shown_as
from secateur.graph.retrieval.candidates import CodebookArrays, symbols_of
from secateur.graph.retrieval.ranking import GraphRanking, rank_block
from secateur.graph.triples.extraction import text_extractor
from secateur.library.arguments import as_texts, check, is_amount, is_count, is_folder, is_text, reported
from secateur.library.graph import Tables, graph_tables
from secateur.library.keeping import load, save
from secateur.library.known import Counted, Replies, Vectors
from secateur.library.options import LOG, cache_folder, chosen, context
from secateur.library.ranker import check_price, ranked, ranker_of
from secateur.library.retrieved import Retrieved, Units, sources_of
from secateur.library.texts import Texts, passages_of
from secateur.models.embedder import Embedder
from secateur.models.prompts import asked
from secateur.ranking.group import texts_read
from secateur.ranking.rank import group_of, not_fitted_to

__all__ = ["Memory"]

Triples = list[tuple[str, str, str]]  # head, relation, tail of a question's triples


@dataclass(frozen=True)
class _Ready:
    """All that a question needs, made by `index` and never changed. shown: alias -> the text it is written as."""

    passages: pl.DataFrame
    tables: Tables
    ranking: Any
    assembly: Assembly
    documents: dict[str, str]
    shown: dict[str, str]


class Memory:
    """A memory of texts that retrieves a context for a question.

    system: an option of conf/system that ranks by the graph or by one plain ranker, or LIST/RANKER (`rankers/zsum`);
    assembly, reader: options in place of the system's; order: `blind`, or `aware` of a sentence's place in its document;
    overrides: `group.key=value`, as on the command line. Contexts equal those of the pipeline's system of that name.

    Raises SecateurError for an unknown name, and for a system that needs more than texts.
    """

    @reported()
    def __init__(
        self,
        system: str = "secateur",
        *,
        assembly: str | None = None,
        reader: str | None = None,
        order: str = "blind",
        overrides: Iterable[str] = (),
    ) -> None:
        for argument, value in (("system", system), ("order", order), ("assembly", assembly), ("reader", reader)):
            group = "lm" if argument == "reader" else argument
            optional, allowed = argument in ("assembly", "reader"), f"an option of conf/{group}"
            fits = (value is None and optional) or (is_text(value) and value != "")
            check(fits, argument, value, allowed + " or None" * optional, "Memory('beam', order='blind')")
        changed = as_texts(
            "overrides", overrides, "a list of group.key=value", "Memory(overrides=['retriever.top_k=100'])"
        )
        self.settings: dict[str, Any] = {"system": system, "assembly": assembly, "reader": reader, "order": order}
        self.settings |= {"overrides": changed}
        name, _, picked = system.partition("/")
        pick = partial(chosen, overrides=changed)
        spec = pick("system", name)
        ranker = picked or spec.ranker
        if spec.reranker != NONE:
            raise SecateurError(
                f"system {name}: a memory has no reranker, this system has {spec.reranker}. Fix: "
                "overrides=['system.reranker=none'], then secateur.score(question, None, texts) orders parts of a context "
                "by pmi_q; or run the system in an experiment."
            )
        if spec.family not in ("lexical", "graph") or spec.memory != NONE or spec.contexts:
            raise SecateurError(
                f"system {name}: a memory ranks by the graph or by one plain ranker, this system does not. "
                "Fix: secateur, beam, graph_zsum, title_zsum, zsum, bm25, minilm, two_step, or LIST/RANKER."
            )
        groups = ("extractor", "embedder", "codebook", "consolidation", "retriever")
        self.options = {group: pick(group, getattr(spec, group)) for group in groups}
        self.options |= {"order": pick("order", order), "rankers": pick("rankers", spec.rankers)}
        self.options |= {
            "assembly": pick("assembly", assembly or spec.assembly),
            "lm": pick("lm", reader or spec.reader),
        }
        self.options["eval"] = pick("eval", "default")
        self.by_graph = spec.family == "graph"
        if picked and self.by_graph:
            raise SecateurError(
                f"system {system}: {name} ranks by the graph and has no list of rankers. Fix: system={name!r}."
            )
        self.scorers = {} if self.by_graph else self.options["rankers"].scorers
        self.ranker: Any = None if self.by_graph else ranker_of(self.scorers, ranker, order)
        if self.ranker and (unfitted := not_fitted_to(self.ranker, self.options["embedder"])):
            LOG.warning(unfitted)
        if self.options["assembly"].is_priced:
            self._check_price("assembly.price")
        self.embedder = Embedder(self.options["embedder"], cache_folder())
        self.vectors = Vectors(self.embedder)
        self.needs_graph = self.by_graph or plugins.load("form", self.options["assembly"].form["kind"]).NEEDS_GRAPH
        self._read: Any = text_extractor(self.options["extractor"], context(), Replies()) if self.needs_graph else None
        self._writing, self._parsing = threading.Lock(), threading.Lock()
        self._ready: _Ready | None = None

    def _check_price(self, key: str) -> None:
        name = self.ranker.name if self.ranker else "that of the graph"
        check_price(key, self.settings["system"], self.options["assembly"], self.scorers, name)

    # --- texts in ----------------------------------------------------------------------------

    @reported()
    def index(self, texts: Texts) -> int:
        """Add texts to the memory; returns the number of passages in it.

        texts: a list of texts, {id: text}, a folder of .txt and .md files, or a folder with a passages.jsonl. A text with a
        known id replaces the earlier one. Texts read before are neither parsed nor embedded again.

        Raises SecateurError for what is no text, an empty text, a folder without texts, and where no graph can be built.
        """
        with self._writing:
            before = self._ready.passages if self._ready else TABLES["passages"].empty()
            new = passages_of(texts, before["doc_id"])
            unchanged = before.filter(~pl.col("doc_id").is_in(new["doc_id"].unique().implode()))
            passages = pl.concat([unchanged, new]).sort("doc_id", "position")
            repeated = passages.filter(pl.col("passage_id").is_duplicated())
            if repeated.height:
                passage = repeated["passage_id"][0]
                docs = " and ".join(map(repr, repeated.filter(passage_id=passage)["doc_id"]))
                raise SecateurError(f"passage id {passage!r} is in documents {docs}. Fix: make ids unique.")
            self._ready = self._prepared(passages, self._graph(passages))
            return passages.height

    @reported()
    def remove(self, documents: str | Iterable[str]) -> int:
        """Remove documents by their ids; returns the number of passages that stay. What stays is as if they never were here.

        Caches keep triples and vectors by content, until they are deleted (docs/library.md).

        Raises SecateurError for an id that no document has; then nothing is removed.
        """
        example = "memory.remove(['minutes'])"
        named = (
            [documents] if isinstance(documents, str) else as_texts("documents", documents, "a list of ids", example)
        )
        with self._writing:
            before = self._ready.passages if self._ready else TABLES["passages"].empty()
            ids = before["doc_id"].unique(maintain_order=True).to_list()
            for name in named:
                one_of("document", name, ids)
            passages = before.filter(~pl.col("doc_id").is_in(named))
            self._ready = self._prepared(passages, self._graph(passages)) if passages.height else None
            return passages.height

    def __len__(self) -> int:
        """The number of passages."""
        ready = self._ready
        return ready.passages.height if ready else 0

    @property
    def documents(self) -> dict[str, list[str]]:
        """The ids of the passages of each document, by its id, in reading order."""
        passages = self._ready.passages if self._ready else TABLES["passages"].empty()
        grouped = passages.group_by("doc_id", maintain_order=True).agg("passage_id")
        return dict(grouped.iter_rows())

    async def aindex(self, texts: Texts) -> int:
        """`index` in a thread, so that an event loop goes on."""
        return await asyncio.to_thread(self.index, texts)

    async def aretrieve(self, question: str, budget: int = 256, price: float | None = None) -> Retrieved:
        """`retrieve` in a thread, so that an event loop goes on."""
        return await asyncio.to_thread(self.retrieve, question, budget, price)

    def _graph(self, passages: pl.DataFrame) -> Tables:
        return graph_tables(passages, self.options, self.embedder) if self.needs_graph else {}

    def _prepared(self, passages: pl.DataFrame, tables: Tables, vectors: NDArray | None = None) -> _Ready:
        """All that a question needs; one is asked, so that the first of the user's waits for no vectors and no index.

        vectors: of the passages, where they were saved.
        """
        if self.by_graph:
            lines = Packed.of(tables["lines"]["embedding"].to_numpy())
            book = CodebookArrays.of(tables["entities"], tables["relations"], tables["edges"], lines)
            share = self.options["order"].neighbour
            graph = (passages, book, tables["run_edges"], tables["mentions"], self.vectors)
            ranking: Any = GraphRanking(self.options["retriever"], share, *graph)
            ranking.vectors = by_component(self.embedder.embed(texts_read(passages)) if vectors is None else vectors)
        else:
            ranking = group_of(passages, self.vectors.embed, self.embedder.embed_tokens)
            if vectors is not None:
                ranking.cache["vectors"] = by_component(vectors)
        shown = shown_as(tables["entities"], tables["aliases"]) if "aliases" in tables else {}
        ready = _Ready(passages, tables, ranking, self._assembly(passages, tables), _documents(passages), shown)
        if self.by_graph and self.options["retriever"].walk != NONE:
            walked = ranking.passage_graph
            _ = walked.words, walked.passage_entities, walked.entity_passages, walked.idf
        self._ranked(ready, "the", self._triples("the"))
        return ready

    def _assembly(self, passages: pl.DataFrame, tables: Tables) -> Assembly:
        spec = self.options["assembly"]
        kind = plugins.load("form", spec.form["kind"])
        if kind.NEEDS_SENT:
            raise SecateurError(
                f"assembly.form {spec.form['kind']}: it needs contexts of another system. Fix: another assembly."
            )
        cfg = SimpleNamespace(**self.options)

        def counted(material: Material) -> Counted:
            return Counted(material.count, list(material.texts.values()))

        return assembly_of(cfg, passages, tables, cache_folder(), "conf/assembly", counted)

    # --- contexts out ------------------------------------------------------------------------

    @reported()
    def retrieve(self, question: str, budget: int = 256, price: float | None = None) -> Retrieved:
        """The context of a question within a budget of the reader's tokens. Safe for threads, also during `index`.

        price: of 512 tokens in evidence recall; passages that are not worth it are left out, also where there is room. It
        needs a system whose scores are shares of the evidence; default: the assembly's.

        Raises SecateurError for an empty question, a budget below 1, a price that is below 0 or that the system cannot have,
        and a memory without texts.
        """
        example = "memory.retrieve('Who bought the mill?', budget=256)"
        check(is_text(question) and question.strip() != "", "question", question, "a text with words", example)
        check(is_count(budget), "budget", budget, "a whole number of tokens, 1 or more", example)
        if price is not None:
            check(is_amount(price), "price", price, "a number, 0 or more, or None", f"{example[:-1]}, price=0.5)")
            self._check_price("price")
        ready = self._ready
        if ready is None:
            raise SecateurError("the memory has no texts. Fix: memory.index([...]) first.")
        triples = self._triples(question)
        units = self._ranked(ready, question, triples)
        if len(units) > 1 and len({value for _, _, value in units}) == 1:
            LOG.warning("all passages score the same for question %r: they stand in reading order", question)
        query = Query(question, as_shown(triples, ready.shown))
        context = self._written(ready, query, units, budget, price)
        sources = sources_of(context.rows, ready.documents, units)
        return Retrieved(question, text_of(context.rows), context.tokens, budget, sources)

    def _written(self, ready: _Ready, query: Query, units: Units, budget: int, price: float | None) -> Context:
        assembly = self.options["assembly"]
        best = [Ranked(*unit) for unit in units[: assembly.pieces]]
        with plugins.calling("form", plugins.load("form", assembly.form["kind"])):
            price = assembly.price if price is None else price
            return ready.assembly.contexts(query, best, [budget], price)[budget]

    def _triples(self, question: str) -> Triples:
        """The question's triples, where a graph is ranked by or written from."""
        if not self._read:
            return []
        with self._parsing:
            return [(triple.head, triple.relation, triple.tail) for triple in self._read(question)]

    def _ranked(self, ready: _Ready, question: str, triples: Triples) -> Units:
        """The ranking: of passages, or of the lines of the best runs."""
        if not self.by_graph:
            return ranked(self.ranker, self.options["rankers"], ready.ranking, question, self.options["eval"].seed)
        ranking, symbols = ready.ranking, symbols_of(question, triples)
        needed = (
            symbols if self.options["retriever"].units == "runs" else symbols[:2]
        )  # lines are compared for runs only
        symbolic = [text for part in needed for text in part]
        self.vectors.embed([*asked([question]), *symbolic])  # one call: each has a fixed cost
        questions = pl.DataFrame({"question_id": ["asked"], "text": [question]})
        block = rank_block(ranking, questions, [symbols], candidates=False)
        return [
            row
            for frame in block.rankings
            if frame.height
            for row in frame.select("passage_id", "edge_id", "value").rows()
        ]

    # --- kept --------------------------------------------------------------------------------

    @reported()
    def save(self, folder: str | Path) -> Path:
        """Save tables (Parquet), vectors (safetensors) and settings to a folder, which appears whole or not at all.

        Raises SecateurError for a folder that exists, and for a memory without texts.
        """
        check(is_folder(folder), "folder", folder, "the path of a new folder", "memory.save('memory')")
        ready = self._ready
        if ready is None:
            raise SecateurError("the memory has no texts to save. Fix: memory.index([...]) first.")
        vectors = ready.ranking.vectors if self.by_graph else ready.ranking.cache.get("vectors")  # BM25 needs none
        identity = None if vectors is None else self.embedder.identity
        return save(
            Path(folder), {"passages": ready.passages} | ready.tables, vectors, self.settings | {"embedder": identity}
        )

    @classmethod
    @reported()
    def load(cls, folder: str | Path) -> "Memory":
        """Load a saved memory; nothing is parsed or embedded again.

        Raises SecateurError for a folder without a memory, and for a damaged file.
        """
        check(is_folder(folder), "folder", folder, "the path of a folder that save() wrote", "Memory.load('memory')")
        saved = load(Path(folder))
        memory = cls(system := saved.settings.pop("system"), **saved.settings)
        if saved.passages.height and bool(saved.tables) != memory.needs_graph:
            raise SecateurError(f"{folder}: was saved when {system} was another system. Fix: index the texts again.")
        if saved.embedder not in (None, memory.embedder.identity):
            raise SecateurError(
                f"{folder}: its vectors come from other weights or another engine. Fix: index the texts again."
            )
        shape = (saved.passages.height, memory.options["embedder"].dim)
        if saved.vectors is not None and saved.vectors.shape != shape:
            raise SecateurError(
                f"{folder}: vectors of shape {saved.vectors.shape}, not {shape}. Fix: save the memory again."
            )
        memory._ready = memory._prepared(saved.passages, saved.tables, saved.vectors)
        return memory


# --- texts and tables ----------------------------------------------------------------------------


def _documents(passages: pl.DataFrame) -> dict[str, str]:
    return dict(passages.select("passage_id", "doc_id").iter_rows())
