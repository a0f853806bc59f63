# Which figures there are, of which variants.

from itertools import combinations

from secateur.ecs.names import matched_baselines
from secateur.config.limits import command


include: "unfinished.smk"


def planned_files(variant):
    """The tables of figures of a variant: what it holds or selects, its answer gain, its answers."""
    options = variant.wildcards
    found = [layout.answered(options)] if variant.answered else []
    found += [layout.judged(options, judge) for judge in variant.judges]
    found += [layout.agreed(options, pair) for pair in combinations(variant.judges, 2)]
    found += layout.gains(options, option("eval", "default").gain_shards) if variant.gained else []
    found += [layout.asked(options)] if variant["family"] == "peer" else []
    if variant.study:
        return [layout.figures(options, variant.study)]
    if variant.kind == "dialogue":
        return [layout.selection(options)]
    measured = option("system", variant.base).answers_only or variant["memory"] != layout.NONE
    if not measured and variant["family"] != layout.IMPORTED and option("dataset", variant.dataset).cutoffs:
        found.append(layout.retrieved(options))
    return unique(([] if measured else [layout.figures(options, None)]) + found)


def files_of(variant):
    """Those tables that there are, where an experiment has not ended; else all of them."""
    return [path for path in planned_files(variant) if there(path)]


PLANNED = VARIANTS
if UNFINISHED:
    VARIANTS = [v for v in PLANNED if files_of(v)]
    if not VARIANTS:
        _stop(f"{EXPERIMENT}: none of its {len(PLANNED)} rows has been made here. Fix: {command(EXPERIMENT)}")


def figure_rows(_):
    """All files of figures as plain data, in the order of the variants they speak of, with what they may differ in."""
    return [
        {
            "dataset": v.dataset,
            "system": v.system,
            "order": v.order,
            "file": file,
            "axes": dict(v.axes),
            "listed": (
                f":{layout.ALL}" if v.study is None and v["pick"] == layout.ALL and v["family"] == "lexical" else ""
            ),
        }
        for v in VARIANTS
        for file in files_of(v)
    ]


def matched_baseline_rows(_):
    """Joined scorer -> its matched baseline, the same join without the scores of a language model."""
    found = {}
    for v in VARIANTS:
        if v["family"] == "utility":
            listed = option("rankers", v["rankers"])
            found |= matched_baselines(listed.scores, listed.utilities)
    return found


def dataset_rows(_):
    """What compare_variants must know of each data set."""
    keys = ("kind", "split", "types", "first", "unanswerable", "metrics")
    datasets = {name: option("dataset", name) for name in unique(v.dataset for v in VARIANTS)}
    return [{"name": name} | {key: getattr(one, key) for key in keys} for name, one in datasets.items()]


def figure_files(_):
    return unique(row["file"] for row in figure_rows(_))


def dataset_tables(name):
    """A table of every data set."""
    return lambda _: [
        f"results/{c}/{d}/questions/{name}.parquet" for c, d in unique((v.corpus, v.dataset) for v in VARIANTS)
    ]


def selections_of(wildcards):
    """The selections of a ranking; of one by utility, also those grown greedily, where a data set asks for them."""
    options = layout.options_of(wildcards)
    folder = f"{layout.folder(options)}/selections/{wildcards.ranking}"
    grown = options["family"] == "utility" and option("dataset", wildcards.dataset).grown
    count = option("ecs", options["ecs"]).shards if grown else 0
    return [f"{folder}/selections.parquet"] + [f"{folder}/greedy/{n}of{count}/selections.parquet" for n in range(count)]
