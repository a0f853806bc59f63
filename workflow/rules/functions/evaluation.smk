# Figures of the experiment: their files, and the rows that describe them.

from secateur.config.limits import command
from secateur.core.artifacts import read_json
from secateur.planning.contents import Planned

OUTDATED = config.get(
    "unfinished"
)  # a list of records to make anew: the report shows the others, and names what is missing
PLACE = str(Path("results/experiments", EXPERIMENT, "unfinished" if OUTDATED else ""))


PENDING = frozenset(read_json(Path(OUTDATED))) if OUTDATED else None


def planned(method, *arguments):
    """An input function, or a param, that a method of the planned experiment returns."""
    return lambda _: method(Planned(EXPERIMENT, VARIANTS, option, PENDING), *arguments)


if not planned(Planned.rows)(None):
    stop(f"{EXPERIMENT}: none of its {len(VARIANTS)} rows has figures yet. Fix: {command(EXPERIMENT)}")


def selections_of(wildcards):
    """The selections of a ranking; of a utility ranking also the shards that are grown greedily."""
    options = layout.options_of(wildcards)
    grown = options["family"] == "utility" and option("dataset", wildcards.dataset).grown
    return layout.selections(options, option("ecs", options["ecs"]).shards if grown else 0)


def pool_of(wildcards):
    """The pool of a utility ranking, in which chance chooses too."""
    options = layout.options_of(wildcards)
    return f"{POOL}/pool.parquet".format(**options) if options["family"] == "utility" else []
