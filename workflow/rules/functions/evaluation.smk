# Which figures there are, of which variants.

from secateur.config.limits import command
from secateur.ecs.names import matched_baselines
from secateur.planning.contents import Planned

UNFINISHED = bool(config.get("unfinished"))  # the report shows what exists, and names what is missing
PLACE = str(Path("results/experiments", EXPERIMENT, "unfinished" if UNFINISHED else ""))
PLANNED = Planned(VARIANTS, option, indexed_by, UNFINISHED)
VARIANTS = PLANNED.shown
if not VARIANTS:
    _stop(f"{EXPERIMENT}: none of its {len(PLANNED.variants)} rows has been made here. Fix: {command(EXPERIMENT)}")


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
        for file in PLANNED.existing(v)
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
