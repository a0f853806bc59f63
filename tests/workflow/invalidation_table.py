"""Which rules re-run for which key: an override, and the rules whose own params or inputs it changes.

An option of the groups system and study stands in paths: with it every rule from where the variants branch has new jobs.
"""

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

# From a rule downwards, of systems.
FROM_VARIANT = {"assemble_contexts", "evaluate_contexts", "measure_answer_gain"} | ANSWERS | EXPERIMENT
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
FROM_PEER = {
    *PEERS,
    "rerank_passages",
    "evaluate_rankings",
    "assemble_contexts",
    "evaluate_contexts",
    "measure_answer_gain",
}
FROM_PEER |= ANSWERS | EXPERIMENT
# And of studies, which have no figures of contexts.
POLICIES = PREFERS | EXPERIMENT
STUDIED = {"assemble_contexts", "replay_sessions"} | POLICIES
STUDIED_GRAPH = {"consolidate", "rank_by_graph"} | STUDIED

# --- the table -------------------------------------------------------------------------------------

KEYS = {
    "corpus.format=stem": {"prepare_corpus"},
    "corpus.files=[stem_question.json]": {"prepare_corpus", "fetch_dataset"},
    "corpus.extra=[data/published.yaml]": {"prepare_corpus"},
    "corpus.folder=data/toy/documents": {"prepare_corpus"},
    "corpus.shuffle=3": {"prepare_corpus"},
    "corpus.documents=1": {"prepare_corpus", "prepare_dataset"},
    "dataset.corpus=toy_documents": RULES - {"fetch_dataset", "prepare_model", "prepare_peer"},
    "dataset.format=stem": {"prepare_dataset"} | EXPERIMENT,  # one format alone says what its distractors are
    "dataset.kind=dialogue": {"prepare_dataset"} | FROM_TURNS - {"select_greedily"},
    "dataset.files=[stem_question.json]": {"prepare_dataset", "fetch_dataset"},
    "dataset.folder=data/toy/documents": {"prepare_dataset"},
    "dataset.control_of=toy_documents": {"prepare_dataset"},
    "+dataset.sample.test=3": {"prepare_dataset"},
    "dataset.limit=3": {"prepare_dataset"},
    "dataset.split=dev": {"measure_answer_gain", "sample_questions", "replay_sessions"} | ASKED | EXPERIMENT,
    "++dataset.trained={train: 2, dev: 1, test: 1}": POLICIES,  # also where there was none
    "dataset.metrics=[semantic]": {"evaluate_contexts", "compare_variants"},
    "+dataset.types.hard=[3-hop]": {"compare_variants"},
    "+dataset.first.F1=1": {"propose_passages", "select_greedily", "compare_variants"},
    "dataset.unanswerable=['3']": {"rank_passages", "propose_passages", "compare_variants"},
    "dataset.scored=F1": {"propose_passages"},
    "dataset.probed=null": {"propose_passages"},
    "dataset.grown=[single-hop]": {"select_greedily", "evaluate_selection"},  # where it was asked for, and elsewhere
    "dataset.grown=[]": {"evaluate_selection"},
    "dataset.grown_of=null": {"select_greedily"},
    "dataset.gain=3": {"measure_answer_gain"} | EXPERIMENT,  # also where there was none
    "dataset.gain=0": EXPERIMENT,
    "dataset.answered=1": ASKED,
    "dataset.answered=0": EXPERIMENT,
    "++dataset.cutoffs=[1, 5]": {"evaluate_selection", "evaluate_rankings"} | EXPERIMENT,  # also where there were none
    "extractor.kind=openie & extractor.files=[] & extractor.shards=2": EXTRACTS | {"build_codebook"} | PEERS,
    "extractor.shards=3": {"extract_triples", "build_codebook"} | PEERS,
    "extractor.block=64": EXTRACTS - REMEMBERS,
    "extractor.settings.batch=16": EXTRACTS,
    "extractor.settings.model=folder/other": EXTRACTS,
    "extractor.settings.beams=1": EXTRACTS,
    "extractor.settings.length_penalty=1.0": EXTRACTS,
    "extractor.settings.max_tokens=128": EXTRACTS,
    "extractor.settings.url=http://localhost:8000/v1": EXTRACTS,
    "extractor.settings.timeout=60": EXTRACTS,
    "extractor.settings.delays=[1]": EXTRACTS,
    "extractor.settings.max_wait=60": EXTRACTS,
    "extractor.settings.max_failed=0.02": EXTRACTS,
    "extractor.max_malformed=0.2": {"extract_triples"},
    "extractor.files=[data/mine.csv]": {"extract_triples"},
    "embedder.model=package:other/model": EMBEDS | {"assemble_contexts", "describe_dataset", "propose_passages"},
    "embedder.dim=256": EMBEDS,
    "embedder.max_tokens=64": EMBEDS,
    "embedder.batch_tokens.cpu=256": EMBEDS,
    "embedder.block.cpu=64": EMBEDS,
    "embedder.engine=torch": EMBEDS,
    "embedder.tau=0.6": {"build_runs"},
    "codebook.bonus_path=0.06": {"build_runs"},
    "codebook.bonus_node=0.04": {"build_runs"},
    "codebook.refine=false": {"build_runs"},
    "consolidation.merge=false": {"consolidate"},
    "consolidation.tau=0.95": {"consolidate"},
    "consolidation.slack=0.03": {"consolidate"},
    "consolidation.guarded=false": {"consolidate"},
    "consolidation.exact_limit=1000": {"consolidate"},
    "consolidation.probes=4": {"consolidate"},
    "consolidation.budget=1000": {"consolidate"},
    "consolidation.floor=0.85": {"consolidate"},
    "consolidation.iterations=5": {"consolidate"},
    "consolidation.seed=8": {"consolidate", "find_mentions"},
    "consolidation.prune=frequency": {"consolidate", "find_mentions"},
    "consolidation.min_mentions=3": {"consolidate", "find_mentions"},
    "consolidation.keep=0.5": {"consolidate", "find_mentions"},
    "consolidation.aliases=data/registry/stem_titles.yaml": {"consolidate"},
    "consolidation.joins=[of]": {"find_mentions"},
    "consolidation.skipped=[the]": {"find_mentions"},
    "consolidation.longest=5": {"find_mentions"},
    "order.runs=document": {"build_runs"},
    "order.neighbour=0.5": {"rank_by_graph"},
    "retriever.coarse=maxpair": SHORTLISTS,
    "retriever.w_ent=0.9": SCORES_RUNS,
    "retriever.w_rel=0.4": SCORES_RUNS,
    "retriever.w_text=0.5": SHORTLISTS,
    "retriever.top_k=100": SCORES_RUNS,
    "retriever.top_m=10": SHORTLISTS,
    "retriever.top_t=2": SCORES_RUNS,
    "retriever.coverage=count": SCORES_RUNS,
    "retriever.w_coverage=0.2": SCORES_RUNS,
    "retriever.tau_coverage=0.5": SCORES_RUNS,
    "retriever.w_pairs=0.3": SCORES_RUNS,
    "retriever.tau_pairs=0.6": SCORES_RUNS,
    "retriever.t_pairs=0.2": SCORES_RUNS,
    "retriever.w_distinct=0.2": SCORES_RUNS,
    "retriever.tau_distinct=0.6": SCORES_RUNS,
    "retriever.w_whole=0.2": SCORES_RUNS,
    "retriever.tau_whole=0.6": SCORES_RUNS,
    "retriever.t_whole=0.2": SCORES_RUNS,
    "retriever.k1=0.9": SHORTLISTS,
    "retriever.b=0.4": SHORTLISTS,
    "retriever.title=false": {"rank_by_graph"},
    "retriever.passages=100": {"rank_by_graph"},
    "retriever.units=runs": {"rank_by_graph"},
    "retriever.facts=include_all": {"rank_by_graph"},
    "retriever.theta=0.9": {"rank_by_graph"},
    "retriever.w_bm25=0.5": {"rank_by_graph"},
    "retriever.w_dense=0.5": {"rank_by_graph"},
    "retriever.w_run=0.5": {"rank_by_graph"},
    "retriever.w_line=0.5": {"rank_by_graph"},
    "retriever.walk=none": {"rank_by_graph"},
    "retriever.phrases=true": {"rank_by_graph"},
    "peer.adapter.qa_top_k=3": PEERS,
    "peer.environment=null": PEERS,
    "peer.chunk=128": PEERS,
    "peer.indexed_by=hipporag2": PEERS,
    "peer.start=60": PEERS,
    "peer.document_seconds=5": PEERS,
    "peer.question_seconds=60": PEERS,
    "peer.longest=1000": PEERS,
    "service.url=http://localhost:8001/v1 & service.model=another": PEERS,
    "service.model=another": PEERS,
    "service.timeout=60": PEERS,
    "service.delays=[1]": PEERS,
    "service.max_wait=60": PEERS,
    "service.parameters={seed: 1}": PEERS,
    "service.template={enable_thinking: false}": PEERS,
    "reranker.spec.top=48": {"rerank_passages"},
    "reranker.spec.lm=other": {"rerank_passages", "prepare_model"},
    "assembly.form={kind: dense, drop: [a]}": WRITTEN | {"build_preferences", "recall_context"},
    "assembly.form.kind=lines": FROM_CONTEXTS | STUDIED,  # its path says which graph it is written from
    "assembly.packing=stop": WRITTEN,
    "assembly.titles=true": WRITTEN,
    "assembly.pieces=5": WRITTEN,
    "assembly.placement=best_first": WRITTEN,
    "assembly.counter=word_pieces": WRITTEN,
    "assembly.budget=256": {"assemble_contexts", "import_contexts", "sample_questions", "replay_sessions"}
    | {"recall_context", "compare_variants"}
    | ANSWERS - {"compare_judges"},
    "lm.model=package:other/model.gguf": {"assemble_contexts", "import_contexts", "prepare_model", "replay_sessions"}
    | PEERS  # whose costs are counted in the reader's tokens
    | LOADS_LM,
    "lm.backend=sglang": ASKS_LM,
    "lm.window=4096": LOADS_LM,
    "lm.dtype.cpu=bfloat16": LOADS_LM,
    "lm.pack.cpu=128": LOADS_LM,
    "lm.exact=true": LOADS_LM,
    "lm.seconds={call: 1, read: 1, write: 1}": LEARNT,
    "lm.url=http://localhost:8001": ASKS_LM,
    "lm.top_logprobs=20": ASKS_LM,
    "lm.concurrency=2": ASKS_LM,
    "lm.timeout=60": ASKS_LM,
    "lm.delays=[1]": ASKS_LM,
    "lm.max_wait=60": ASKS_LM,
    "ecs.shards=3": {"score_candidates", "combine_scores", "select_greedily", "evaluate_selection"},
    "+ecs.pooled_by.zsum=1.0": {"propose_passages"},
    "ecs.pool=24": {"propose_passages"},
    "ecs.pool_aware=0": {"propose_passages"},
    "ecs.before=0": {"score_candidates", "select_greedily"},
    "ecs.probes=[judge_factual]": {"score_candidates"},
    "ecs.grow_by={zsum: 2.0}": {"select_greedily"},
    "ecs.arrival={signed: {kind: signed, length_penalty: 0.0}}": {"select_greedily"},
    "ecs.layout=question_first": READS_LM - {"judge_answers"},
    "ecs.horizon=4": PASSES,
    "ecs.top_k=20": PASSES,
    "ecs.epsilon=1e-9": PASSES,
    "ecs.draws=4": {"propose_passages", "combine_scores", "select_greedily", "check_red_herrings"},
    "ecs.folds=5": {"combine_scores"},
    "ecs.percentile=0.9": {"combine_scores", "select_greedily", "check_red_herrings"},
    "ecs.threshold=0.1": {"select_greedily", "check_red_herrings"},
    "ecs.quantiles=[0.5]": {"check_red_herrings"},
    "ecs.policy_budgets=[64]": {"build_preferences"},
    "ecs.policy_judge=endpoint": {"build_preferences"},
    "ecs.pseudo_answers=2": REMEMBERS,
    "ecs.pseudo_tokens=12": REMEMBERS,
    "ecs.temperature=1.0": REMEMBERS,
    "ecs.seed=8": {"propose_passages", "select_greedily", "check_red_herrings"} | REMEMBERS,
    "ecs.questions=8": SWEEPS,
    "ecs.passages=32": SWEEPS,
    "memory.enabled=false": PREFERS,
    "memory.questions=1": REMEMBERS,
    "memory.answers=1": REMEMBERS,
    "memory.gold=true": {"build_preferences"},
    "memory.window=512": {"replay_sessions", "recall_context"},
    "memory.fresh=128": {"replay_sessions", "recall_context"},
    "memory.theta=0.9": REMEMBERS,
    "memory.policy_of=none": ACTING | {"recall_context"},
    "policy.alpha=2": LEARNT,
    "policy.beta=0.5": LEARNT,
    "policy.gamma=0.1": LEARNT,
    "policy.delta=1": LEARNT,
    "policy.clip=[0.1, 0.9]": LEARNT,
    "policy.accuracy=token_f1": LEARNT,
    "policy.trained_on=stem_old_test": {"evaluate_policy"},
    "policy.margin=0.05": {"train_policy"},
    "+policy.reference.facts=[0.2, 0.6, 0.2]": {"train_policy"},
    "policy.sees=no_scores": {"train_policy"},
    "policy.hidden=[32]": {"train_policy"},
    "policy.beta_dpo=0.5": {"train_policy"},
    "policy.learning_rate=0.001": {"train_policy"},
    "policy.weight_decay=0": {"train_policy"},
    "policy.batch=32": {"train_policy"},
    "policy.epochs=10": {"train_policy"},
    "policy.patience=5": {"train_policy"},
    "policy.seed=8": {"train_policy"},
    "policy.budget=300": {"evaluate_policy"},
    "policy.frontier=[0.5]": {"evaluate_policy"},
    "policy.classifier_steps=100": {"evaluate_policy"},
    "answer.instructions=Answer.": WRITES | REMEMBERS,
    "answer.window=1024": WRITES | REMEMBERS,
    "answer.max_tokens=32": WRITES | REMEMBERS,
    "answer.stop=[]": WRITES | REMEMBERS,
    "answer.repeats=4": WRITES | REMEMBERS,
    "answer.least_repeated=60": WRITES | REMEMBERS,
    "answer.template={enable_thinking: false}": WRITES | REMEMBERS,
    "answer.parameters={seed: 1}": WRITES,
    "answer.max_failed=0.5": WRITES,
    "answer.refusals=[no]": {"answer_questions", "build_preferences"},
    "answer.shards=3": ANSWERS - {"compare_judges"} | {"build_report"},
    "answer.backend=completions": WRITES,
    "answer.url=http://localhost:8001/v1": WRITES,
    "answer.model=another": WRITES,
    "answer.concurrency=2": WRITES,
    "answer.timeout=60": WRITES,
    "answer.delays=[1]": WRITES,
    "answer.max_wait=60": WRITES,
    "judge.backend=completions": {"judge_answers"},
    "judge.judged=40": {"judge_answers"},
    "judge.checked=10": {"judge_answers"},
    "judge.facts=0.5": {"judge_answers"},
    "judge.padding=Indeed.": {"judge_answers"},
    "judge.window=512": {"judge_answers"},
    "judge.max_tokens=32": {"judge_answers"},
    "judge.stop=[]": {"judge_answers"},
    "judge.repeats=4": {"judge_answers"},
    "judge.least_repeated=60": {"judge_answers"},
    "judge.template={enable_thinking: false}": {"judge_answers"},
    "judge.parameters={seed: 1}": {"judge_answers"},
    "judge.max_failed=0.5": {"judge_answers"},
    "judge.lm=other": {"judge_answers", "prepare_model"},
    "judge.url=http://localhost:8001/v1": {"judge_answers"},
    "judge.model=another": {"judge_answers"},
    "judge.concurrency=2": {"judge_answers"},
    "judge.timeout=60": {"judge_answers"},
    "judge.delays=[1]": {"judge_answers"},
    "judge.max_wait=60": {"judge_answers"},
    "+rankers.scorers.mine={kind: dense}": {"rank_passages"},
    "++rankers.scores.signed={kind: signed, length_penalty: 0.002}": {"combine_scores", "check_red_herrings"},
    "+rankers.utilities.mine={kind: 'null', of: signed}": {"combine_scores"},
    "rankers.fitted_on=[toy_dialogue_smoke, locomo]": {"combine_scores"},
    "rankers.suffixes=['+neighbour', '+answer', '+neighbour+answer']": {"rank_passages"},
    "rankers.neighbour=0.5": {"rank_passages"},
    "rankers.keep=10": {"rank_passages"},
    "system.family=graph": FROM_RUNS
    - {"recall_context", "find_mentions"}
    - ACTING,  # which ranks for other systems too, order-blind
    "system.ranker=zsum": {"rerank_passages", "evaluate_rankings"} | FROM_VARIANT,
    "system.orders=[blind]": FROM_VARIANT,  # a form that needs a graph writes a peer's passages from that of its order
    "system.rankers=other": {"rank_passages", "evaluate_rankings", "assemble_contexts", "evaluate_contexts"}
    | EXPERIMENT,
    "system.turns=other": FROM_TURNS,
    "system.extractor=other": EXTRACTS | FROM_CODEBOOK | PEERS,
    "system.embedder=other": FROM_CODEBOOK | FROM_TURNS | PEERS,
    "system.codebook=other": FROM_RUNS,
    "system.consolidation=other": FROM_GRAPH,
    "system.retriever=paper": FROM_GRAPH_RANKING,
    "system.peer=raptor": FROM_PEER,
    "system.service=released": FROM_PEER,
    "system.reranker=pmi_q": FROM_RANKING,
    "system.assembly='default+packing=stop'": FROM_CONTEXTS | {"import_contexts"},
    "system.reader=other": FROM_CONTEXTS | FROM_STATISTICS | {"import_contexts", "prepare_model"},
    "system.ecs=quick": FROM_POOL | FROM_RECALL | ACTING | {"measure_answer_gain"},  # in whose paths it stands
    "system.memory=none": EXPERIMENT,
    "system.policy=other": {"train_policy"} | FROM_RECALL,
    "system.answer=endpoint": FROM_RECALL,
    "system.contexts=data/elsewhere.jsonl": {"import_contexts"} | FROM_VARIANT - {"assemble_contexts"},
    "system.answers_only=true": EXPERIMENT,
    "system.plain=false": {"compare_variants", "build_report"},
    "system.yours=true": {"compare_variants", "build_report"},
    "study.kind=sessions": {"replay_sessions"} | EXPERIMENT,
    "study.family=graph": EXPERIMENT,  # of the distractors, told of it
    "study.orders=[aware]": {"build_runs"} | STUDIED_GRAPH,
    "study.extractor=other": EXTRACTS - {"recall_context"} | {"build_codebook", "build_runs"} | STUDIED_GRAPH,
    "study.embedder=other": {"build_codebook", "build_runs"} | STUDIED_GRAPH,
    "study.codebook=other": {"build_runs"} | STUDIED_GRAPH,
    "study.consolidation=other": STUDIED_GRAPH,
    "study.retriever=paper": STUDIED_GRAPH - {"consolidate"},
    "study.reranker=pmi_q": {"rerank_passages"} | STUDIED,
    "study.assembly='default+form=words'": STUDIED,
    "study.reader=other": {"check_red_herrings", "prepare_model"} | STUDIED,
    "study.ecs=quick": {"check_red_herrings"} | POLICIES,
    "study.memory=none": {"replay_sessions"} | POLICIES,
    "study.policy=other": POLICIES - {"build_preferences"},
    "study.rankers=other": {"compare_variants"},  # which is told of it; that study ranks nothing
    # What no study has: a ranker of a list, turns, answers, contexts made elsewhere.
    "study.ranker=null": set(),
    "study.turns=other": set(),
    "study.peer=raptor": set(),
    "study.service=released": set(),
    "study.answer=endpoint": set(),
    "study.contexts=null": set(),
    "study.answers_only=true": set(),
    "study.plain=false": set(),
    "study.yours=true": set(),
    "eval.budgets=[64, 128, 256, 512]": {
        "assemble_contexts",
        "import_contexts",
        "evaluate_contexts",
        "sample_questions",
    },
    "eval.metrics=[token_recall]": MEASURES | {"compare_variants", "build_report"},
    "eval.claim=[64]": {"compare_variants", "build_report"},
    "eval.against=[]": {"compare_variants"},
    "eval.reference=rag": {"compare_variants"},
    "eval.gain_budgets=[64]": {"measure_answer_gain", "compare_variants"},
    "eval.gain_control=128": {"measure_answer_gain"},
    "eval.gain_shards=3": {"measure_answer_gain"} | EXPERIMENT,
    "eval.resamples=1000": {"compare_variants"},
    "eval.permutations=1000": {"compare_variants"},
    "eval.min_clusters=3": {"combine_scores"},
    "eval.min_units=5": {"compare_variants", "build_report"},
    "eval.seed=8": {"rank_passages", "compare_variants", "sample_questions"},
    "eval.samples=2": {"sample_questions"},
    "eval.max_edges=20": {"sample_questions"},
    "eval.read_shares=[0.1, 1.0]": {"measure_growth"},
    "experiment.title=Another": {"build_report"},
    "experiment.datasets=[toy_documents_smoke]": EXPERIMENT,
    "experiment.systems=[secateur]": EXPERIMENT,
    "experiment.studies=[policy]": EXPERIMENT,
    "experiment.crossed=[assembly]": FROM_VARIANT,
    "experiment.axes.retriever=[paper]": {"rank_by_graph", "evaluate_rankings"} | FROM_VARIANT,
    "experiment.options={secateur: {retriever: paper}}": {
        *("rank_by_graph", "evaluate_rankings", "rerank_passages", "sample_questions"),
    }
    | FROM_VARIANT,
    "experiment.exclude=[{dataset: locomo}]": EXPERIMENT,
    "experiment.judges=[smollm2]": EXPERIMENT,
    "experiment.primary=[{row: secateur, minus: title_zsum, differs: ranker, metrics: [evidence_recall@claim]}]": {
        "compare_variants"
    },
    "experiment.answers=false": EXPERIMENT,  # which no longer have those figures
    "experiment.gains=false": EXPERIMENT,
}
