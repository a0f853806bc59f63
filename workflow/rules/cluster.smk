# What the driver patches in Snakemake: resources of rules on a cluster, its executor (docs/cluster.md), what is current. Included before the rules, which read them.

from secateur.cluster import executor, leftovers, needs, quoting, resources
from secateur.core.events import emit
from secateur.planning.asked import note_asked
from secateur.stage import current

NOTHING_RUNS = "--(dry-?run|unlock|lint|summary|detailed-summary|dag|rulegraph|filegraph|list.*|report.*|touch|cleanup-metadata|nolock)|-[a-zA-Z]*n[a-zA-Z]*"

if config.get("resources"):
    rules_here = resources.rules_of(ROOT / "workflow" / "rules")
    resources.override(workflow, or_stop(resources.parse)(compose.separated(config["resources"]), rules_here))

needs.patch()
quoting.patch()

if workflow.is_main_process:  # the driver, not its jobs
    or_stop(executor.patch)()
    # Under the lock: a second run that it refuses is not the one asked for last.
    current.patch(CACHE / "files", lambda: None if config.get("unfinished") else note_asked(EXPERIMENT, OVERRIDES))

if workflow.is_main_process and not any(re.fullmatch(NOTHING_RUNS, flag) for flag in sys.argv):
    if resources.account_missing(workflow):
        stop(
            "profiles/slurm/config.yaml: slurm_account is CHANGE_ME. Fix: write your account and your partitions there"
            " (sacctmgr show associations user=$USER format=account,partition)."
        )


onstart:  # under the lock: a second run that it refuses must not be taken for the one that runs
    leftovers.remember(sys.argv[1:])
    stages = [job for job in workflow.dag.needrun_jobs() if not job.rule.norun]
    emit("planned", jobs=[(job.rule.name, str(job.output.record)) for job in stages])
