"""2WikiMultiHopQA, in HotpotQA's format; its `evidences`, triples over Wikidata, are not read."""

from secateur.datasets.formats.hotpotqa import CORPUS_FILES, QUESTION_FILES, Settings, load_corpus, load_questions

__all__ = ["CORPUS_FILES", "QUESTION_FILES", "Settings", "load_corpus", "load_questions"]
