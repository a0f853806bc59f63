"""Which rules re-run for which key: an override, and the rules whose own params or inputs it changes.

An option of the groups system and study stands in paths: with it every rule from where the variants branch has new jobs.
"""

import re

from invalidation_matrix import EXPERIMENT, RULES

# --- sets of rules ---------------------------------------------------------------------------------

JUDGED = {"judge_answers", "compare_judges"}
ANSWERS = {"answer_questions", "evaluate_answers"} | JUDGED
EXTRACTS = {"extract_triples", "encode_questions", "build_preferences", "recall_context"}  # corpus, questions, answers
EMBEDS = {"build_codebook", "rank_passages", "rank_by_graph", "evaluate_contexts"}
EMBEDS |= {"build_preferences", "recall_context", "judge_answers"}
PEERS = {"index_peer", "ask_peer"}
EMBEDS |= PEERS
REMEMBERS = {"build_preferences", "recall_context"}
SHORTLISTS = {"rank_by_graph"}
SCORES_RUNS = SHORTLISTS | REMEMBERS
ASKED = {"answer_questions", "recall_context"}  # the sample of questions that are answered
SWEEPS = {"score_candidates", "check_red_herrings", "rerank_passages"}  # every question with its candidates
PASSES = SWEEPS | {"select_greedily"}  # what a candidate does to a prediction
READS_LM = PASSES | {"measure_answer_gain", "evaluate_answers", "build_preferences", "recall_context", "judge_answers"}
LOADS_LM = READS_LM | {"answer_questions"}
ASKS_LM = LOADS_LM - {"recall_context", "judge_answers"}  # also of a server
WRITES = {"answer_questions", "recall_context"}
MEASURES = {"evaluate_contexts", "evaluate_answers", "replay_sessions"}
LEARNT = {"train_policy", "evaluate_policy"}
PREFERS = {"build_preferences"} | LEARNT
ACTING = {"build_preferences", "train_policy"}  # what a policy that acts stands on
WRITTEN = {"assemble_contexts", "compare_variants"}  # how contexts are written, in which rows may differ
BUDGETED = WRITTEN | {"sample_questions", "replay_sessions", "recall_context"}
COUNTS_TOKENS = {"assemble_contexts", "import_contexts", "prepare_model", "replay_sessions"} | PEERS

# From a rule downwards, of systems.
GAINS = {"measure_answer_gain"} | ANSWERS
FROM_VARIANT = {"assemble_contexts", "evaluate_contexts"} | GAINS | EXPERIMENT
RERANKED = {"rank_by_graph", "evaluate_rankings"} | FROM_VARIANT
FROM_RECALL = {"recall_context"} | ANSWERS | EXPERIMENT
FROM_CONTEXTS = {"sample_questions"} | FROM_VARIANT | ACTING | FROM_RECALL
FROM_RANKING = {"rerank_passages", "evaluate_rankings"} | FROM_CONTEXTS
FROM_GRAPH_RANKING = {"rank_by_graph"} | FROM_RANKING
FROM_GRAPH = {"consolidate", "find_mentions", "measure_growth"} | FROM_GRAPH_RANKING
FROM_RUNS = {"build_runs"} | FROM_GRAPH
FROM_CODEBOOK = {"build_codebook"} | FROM_RUNS
FROM_STATISTICS = {"score_candidates", "combine_scores", "select_greedily", "evaluate_selection"} | EXPERIMENT
FROM_POOL = {"propose_passages"} | FROM_STATISTICS
FROM_TURNS = {"rank_passages", "select_context"} | FROM_POOL
FROM_PEER = {*PEERS, "rerank_passages", "evaluate_rankings", *FROM_VARIANT}
# And of studies, which have no figures of contexts.
POLICIES = PREFERS | EXPERIMENT
STUDIED = {"assemble_contexts", "replay_sessions"} | POLICIES
STUDIED_GRAPH = {"consolidate", "rank_by_graph"} | STUDIED

# --- the table -------------------------------------------------------------------------------------

ROWS = [  # a group, settings of it, and the rules that each of them re-runs
    ("corpus", "format=stem extra=[data/published.yaml] folder=data/toy/documents shuffle=3", {"prepare_corpus"}),
    ("corpus", "files=[stem_question.json]", {"prepare_corpus", "fetch_dataset"}),
    ("corpus", "documents=1", {"prepare_corpus", "prepare_dataset"}),
    ("dataset", "corpus=toy_documents", RULES - {"fetch_dataset", "prepare_model", "prepare_peer"}),
    ("dataset", "format=stem", {"prepare_dataset"} | EXPERIMENT),  # one format alone says what its distractors are
    ("dataset", "kind=dialogue", {"prepare_dataset"} | FROM_TURNS - {"select_greedily"}),
    ("dataset", "files=[stem_question.json]", {"prepare_dataset", "fetch_dataset"}),
    ("dataset", "folder=data/toy/documents control_of=toy_documents +sample.test=3 limit=3", {"prepare_dataset"}),
    ("dataset", "split=dev", {"measure_answer_gain", "sample_questions", "replay_sessions"} | ASKED | EXPERIMENT),
    ("dataset", "++trained={train: 2, dev: 1, test: 1}", POLICIES),  # also where there was none
    ("dataset", "metrics=[semantic]", {"evaluate_contexts", "compare_variants"}),
    ("dataset", "+types.hard=[3-hop]", {"compare_variants"}),
    ("dataset", "+first.F1=1", {"propose_passages", "select_greedily", "compare_variants"}),
    ("dataset", "unanswerable=['3']", {"rank_passages", "propose_passages", "compare_variants"}),
    ("dataset", "scored=F1 probed=null", {"propose_passages"}),
    ("dataset", "grown=[single-hop]", {"select_greedily", "evaluate_selection"}),
    ("dataset", "grown=[]", {"evaluate_selection"}),
    ("dataset", "grown_of=null", {"select_greedily"}),
    ("dataset", "gain=3", {"measure_answer_gain"} | EXPERIMENT),  # also where there was none
    ("dataset", "gain=0 answered=0", EXPERIMENT),
    ("dataset", "gain_at=[512]", {"measure_answer_gain"}),
    ("dataset", "answered=1", ASKED),
    ("dataset", "++cutoffs=[1, 5]", {"evaluate_selection", "evaluate_rankings"} | EXPERIMENT),
    ("extractor", "kind=openie & extractor.files=[] & extractor.shards=2", EXTRACTS | {"build_codebook"} | PEERS),
    ("extractor", "shards=3", {"extract_triples", "build_codebook"} | PEERS),
    ("extractor", "block=64", EXTRACTS - REMEMBERS),
    ("extractor", "settings.batch=16 settings.model=folder/other settings.beams=1", EXTRACTS),
    ("extractor", "settings.length_penalty=1.0 settings.max_tokens=128", EXTRACTS),
    ("extractor", "settings.url=http://localhost:8000/v1 settings.timeout=60 settings.delays=[1]", EXTRACTS),
    ("extractor", "settings.max_wait=60 settings.max_failed=0.02", EXTRACTS),
    ("extractor", "max_malformed=0.2 files=[data/mine.csv]", {"extract_triples"}),
    ("embedder", "model=package:other/model", EMBEDS | {"assemble_contexts", "describe_dataset", "propose_passages"}),
    ("embedder", "dim=256 max_tokens=64 batch_tokens.cpu=256 block.cpu=64 engine=torch query_prompt='query: '", EMBEDS),
    ("embedder", "document_prompt='passage: '", EMBEDS),
    ("embedder", "tau=0.6", {"build_runs"}),
    ("embedder", "shards=2", {"build_codebook"}),
    ("codebook", "bonus_path=0.06 bonus_node=0.04 refine=false", {"build_runs"}),
    ("consolidation", "merge=false tau=0.95 slack=0.03 guarded=false exact_limit=1000 probes=4", {"consolidate"}),
    ("consolidation", "budget=1000 apart=[left] floor=0.85 iterations=5", {"consolidate"}),
    ("consolidation", "aliases=data/registry/stem_titles.yaml", {"consolidate"}),
    ("consolidation", "seed=8 prune=frequency min_mentions=3 keep=0.5", {"consolidate", "find_mentions"}),
    ("consolidation", "joins=[of] skipped=[the] longest=5", {"find_mentions"}),
    ("order", "runs=document", {"build_runs"}),
    ("order", "neighbour=0.5", {"rank_by_graph"}),
    ("retriever", "coarse=maxpair w_text=0.5 top_m=10 k1=0.9 b=0.4", SHORTLISTS),
    ("retriever", "w_ent=0.9 w_rel=0.4 top_k=100 top_t=2 coverage=count w_coverage=0.2 tau_coverage=0.5", SCORES_RUNS),
    ("retriever", "w_pairs=0.3 tau_pairs=0.6 t_pairs=0.2 w_distinct=0.2 tau_distinct=0.6 w_whole=0.2", SCORES_RUNS),
    ("retriever", "tau_whole=0.6 t_whole=0.2", SCORES_RUNS),
    ("retriever", "title=false passages=100 units=runs facts=include_all theta=0.9 w_bm25=0.5", {"rank_by_graph"}),
    ("retriever", "w_dense=0.5 w_run=0.5 w_line=0.5 shards=2 walk=none phrases=true", {"rank_by_graph"}),
    ("peer", "adapter.qa_top_k=3 environment=null chunk=128 indexed_by=hipporag2 start=60 document_seconds=5", PEERS),
    ("peer", "question_seconds=60 longest=1000", PEERS),
    ("service", "url=http://localhost:8001/v1 & service.model=another model=another timeout=60 delays=[1]", PEERS),
    ("service", "max_wait=60 parameters={seed: 1} template={enable_thinking: false}", PEERS),
    ("reranker", "spec.top=48", {"rerank_passages"}),
    ("reranker", "spec.lm=other", {"rerank_passages", "prepare_model"}),
    ("assembly", "form={kind: dense, drop: [a]}", WRITTEN | {"build_preferences", "recall_context"}),
    ("assembly", "form.kind=lines", FROM_CONTEXTS | STUDIED),  # its path says which graph it is written from
    ("assembly", "packing=stop titles=true pieces=5 price=0.5 mean_tokens=370 counter=word_pieces", WRITTEN),
    ("assembly", "placement=best_first", WRITTEN | {"replay_sessions"}),
    ("assembly", "budget=256", BUDGETED | ANSWERS - {"compare_judges"}),
    ("lm", "model=package:other/model.gguf", COUNTS_TOKENS | LOADS_LM),
    ("lm", "backend=sglang url=http://localhost:8001 top_logprobs=20 concurrency=2 timeout=60 delays=[1]", ASKS_LM),
    ("lm", "max_wait=60", ASKS_LM),
    ("lm", "window=4096", LOADS_LM | {"import_contexts"}),
    ("lm", "dtype.cpu=bfloat16 pack.cpu=128 exact=true", LOADS_LM),
    ("lm", "seconds={call: 1, read: 1, write: 1}", LEARNT),
    ("ecs", "shards=3", {"score_candidates", "combine_scores", "select_greedily", "evaluate_selection"}),
    ("ecs", "+pooled_by.zsum=1.0 pool=24 pool_aware=0", {"propose_passages"}),
    ("ecs", "before=0", {"score_candidates", "select_greedily"}),
    ("ecs", "probes=[judge_factual]", {"score_candidates"}),
    ("ecs", "grow_by={zsum: 2.0} arrival={signed: {kind: signed, length_penalty: 0.0}}", {"select_greedily"}),
    ("ecs", "layout=question_first", READS_LM - {"judge_answers"}),
    ("ecs", "horizon=4 top_k=20 epsilon=1e-9", PASSES),
    ("ecs", "draws=4", {"propose_passages", "combine_scores", "select_greedily", "check_red_herrings"}),
    ("ecs", "folds=5", {"combine_scores"}),
    ("ecs", "percentile=0.9", {"combine_scores", "select_greedily", "check_red_herrings"}),
    ("ecs", "threshold=0.1", {"select_greedily", "check_red_herrings"}),
    ("ecs", "quantiles=[0.5]", {"check_red_herrings"}),
    ("ecs", "policy_budgets=[64] policy_judge=endpoint", {"build_preferences"}),
    ("ecs", "pseudo_answers=2 pseudo_tokens=12 temperature=1.0", REMEMBERS),
    ("ecs", "seed=8", {"propose_passages", "select_greedily", "check_red_herrings"} | REMEMBERS),
    ("ecs", "questions=8 passages=32", SWEEPS),
    ("memory", "enabled=false", PREFERS),
    ("memory", "questions=1 answers=1 theta=0.9", REMEMBERS),
    ("memory", "gold=true", {"build_preferences"}),
    ("memory", "window=512 fresh=128", {"replay_sessions", "recall_context"}),
    ("memory", "policy_of=none", ACTING | {"recall_context"}),
    ("policy", "alpha=2 beta=0.5 gamma=0.1 delta=1 clip=[0.1, 0.9] accuracy=token_f1", LEARNT),
    ("policy", "trained_on=stem_old_test budget=300 frontier=[0.5] classifier_steps=100", {"evaluate_policy"}),
    ("policy", "margin=0.05 +reference.facts=[0.2, 0.6, 0.2] heads=factorised hidden=[32]", {"train_policy"}),
    ("policy", "beta_dpo=0.5 learning_rate=0.001 weight_decay=0 batch=32 epochs=10 patience=5", {"train_policy"}),
    ("policy", "seed=8", {"train_policy"}),
    ("answer", "instructions=Answer. window=1024 max_tokens=32 stop=[] repeats=4", WRITES | REMEMBERS),
    ("answer", "least_repeated=60 template={enable_thinking: false}", WRITES | REMEMBERS),
    ("answer", "parameters={seed: 1} max_failed=0.5 backend=completions url=http://localhost:8001/v1", WRITES),
    ("answer", "model=another concurrency=2 timeout=60 delays=[1] max_wait=60", WRITES),
    ("answer", "refusals=[no]", {"answer_questions", "build_preferences"}),
    ("answer", "shards=3", ANSWERS - {"compare_judges"} | {"build_report"}),
    ("judge", "backend=completions judged=40 checked=10 facts=0.5 padding=Indeed. window=512", {"judge_answers"}),
    ("judge", "max_tokens=32 stop=[] repeats=4 least_repeated=60 template={enable_thinking: false}", {"judge_answers"}),
    ("judge", "parameters={seed: 1} max_failed=0.5 url=http://localhost:8001/v1 model=another", {"judge_answers"}),
    ("judge", "concurrency=2 timeout=60 delays=[1] max_wait=60", {"judge_answers"}),
    ("judge", "lm=other", {"judge_answers", "prepare_model"}),
    ("rankers", "+scorers.mine={kind: dense}", {"rank_passages"}),
    ("rankers", "suffixes=['+neighbour', '+answer', '+neighbour+answer'] neighbour=0.5 keep=10", {"rank_passages"}),
    ("rankers", "shards=2", {"rank_passages"}),
    ("rankers", "++scores.signed={kind: signed, length_penalty: 0.002}", {"combine_scores", "check_red_herrings"}),
    ("rankers", "+utilities.mine={kind: 'null', of: signed}", {"combine_scores"}),
    ("rankers", "fitted_on=[toy_dialogue_smoke, locomo]", {"combine_scores"}),
    ("rankers", "+rules.mine=[signed, pmi_q]", {"check_red_herrings"}),
    # Its graph ranks for other systems too, order-blind.
    ("system", "family=graph", FROM_RUNS - {"recall_context", "find_mentions"} - ACTING),
    ("system", "ranker=zsum", {"rerank_passages", "evaluate_rankings"} | FROM_VARIANT),
    ("system", "orders=[blind]", FROM_VARIANT),  # a peer's passages are written from the graph of its order
    ("system", "rankers=other", {"rank_passages", "evaluate_rankings", *FROM_VARIANT} - GAINS),
    ("system", "turns=other", FROM_TURNS),
    ("system", "extractor=other", EXTRACTS | FROM_CODEBOOK | PEERS),
    ("system", "embedder=other", FROM_CODEBOOK | FROM_TURNS | PEERS),
    ("system", "codebook=other", FROM_RUNS),
    ("system", "consolidation=other", FROM_GRAPH),
    ("system", "retriever=paper", FROM_GRAPH_RANKING),
    ("system", "peer=raptor service=released", FROM_PEER),
    ("system", "reranker=pmi_q", FROM_RANKING),
    ("system", "assembly='default+packing=stop'", FROM_CONTEXTS | {"import_contexts"}),
    ("system", "reader=other", FROM_CONTEXTS | FROM_STATISTICS | {"import_contexts", "prepare_model"}),
    ("system", "ecs=quick", FROM_POOL | FROM_RECALL | ACTING | {"measure_answer_gain"}),  # in whose paths it stands
    ("system", "memory=none answers_only=true", EXPERIMENT),
    ("system", "policy=other", {"train_policy"} | FROM_RECALL),
    ("system", "answer=endpoint", FROM_RECALL),
    ("system", "contexts=data/elsewhere.jsonl", {"import_contexts"} | FROM_VARIANT - {"assemble_contexts"}),
    ("system", "plain=false yours=true", {"compare_variants", "build_report"}),
    ("study", "kind=sessions", {"replay_sessions"} | EXPERIMENT),
    ("study", "family=graph", EXPERIMENT),  # of the distractors, told of it
    ("study", "orders=[aware] codebook=other", {"build_runs"} | STUDIED_GRAPH),
    ("study", "extractor=other", EXTRACTS - {"recall_context"} | {"build_codebook", "build_runs"} | STUDIED_GRAPH),
    ("study", "embedder=other", {"build_codebook", "build_runs"} | STUDIED_GRAPH),
    ("study", "consolidation=other", STUDIED_GRAPH),
    ("study", "retriever=paper", STUDIED_GRAPH - {"consolidate"}),
    ("study", "reranker=pmi_q", {"rerank_passages"} | STUDIED),
    ("study", "assembly='default+form=words'", STUDIED),
    ("study", "reader=other", {"check_red_herrings", "prepare_model"} | STUDIED),
    ("study", "ecs=quick", {"check_red_herrings"} | POLICIES),
    ("study", "memory=none", {"replay_sessions"} | POLICIES),
    ("study", "policy=other", POLICIES - {"build_preferences"}),
    ("study", "rankers=other", {"compare_variants"}),  # which is told of it; that study ranks nothing
    # What no study has: a ranker of a list, turns, answers, contexts made elsewhere.
    ("study", "ranker=null turns=other peer=raptor service=released answer=endpoint contexts=null", set()),
    ("study", "answers_only=true plain=false yours=true", set()),
    ("eval", "budgets=[64, 128, 256, 512]", {"assemble_contexts", "evaluate_contexts", "sample_questions"}),
    ("eval", "metrics=[token_recall]", MEASURES | {"compare_variants", "build_report"}),
    ("eval", "prices=[1.0]", {"compare_variants"}),  # where an assembly has a price
    ("eval", "claim=[64] min_units=5", {"compare_variants", "build_report"}),
    ("eval", "against=[] reference=rag resamples=1000 permutations=1000", {"compare_variants"}),
    ("eval", "permutations_at_floor=20000", {"compare_variants"}),
    ("eval", "gain_budgets=[64]", {"measure_answer_gain", "compare_variants"}),
    ("eval", "gain_control=128", {"measure_answer_gain"}),
    ("eval", "gain_shards=3", {"measure_answer_gain"} | EXPERIMENT),
    ("eval", "min_clusters=3", {"combine_scores", "compare_variants"}),
    ("eval", "seed=8", {"rank_passages", "compare_variants", "sample_questions"}),
    ("eval", "samples=2 max_edges=20", {"sample_questions"}),
    ("eval", "read_shares=[0.1, 1.0]", {"measure_growth"}),
    ("experiment", "title=Another", {"build_report"}),
    ("experiment", "datasets=[toy_documents_smoke] systems=[graph_zsum] studies=[policy]", EXPERIMENT),
    ("experiment", "exclude=[{dataset: locomo}] judges=[smollm2] gains=false", EXPERIMENT),
    ("experiment", "crossed=[assembly]", FROM_VARIANT),
    ("experiment", "axes.retriever=[paper]", RERANKED),
    ("experiment", "options={graph_zsum: {retriever: paper}}", {"rerank_passages", "sample_questions"} | RERANKED),
    (
        "experiment",
        "primary=[{row: graph_zsum, minus: title_zsum, differs: ranker, metrics: [evidence_recall@claim]}]",
        {"compare_variants"},
    ),
    ("experiment", "answers=false", EXPERIMENT),  # which no longer have those figures
]
KEYS = {
    re.sub(r"^(\+*)", rf"\1{group}.", one): rules
    for group, settings, rules in ROWS
    for one in re.split(r"(?<!&) (?=[+\w.]+=)", settings)
}
