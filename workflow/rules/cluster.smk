# What the run asks of a cluster, and how it goes on there (docs/cluster.md). Before any rule: resources are read with them.

from secateur.cluster import executor
from secateur.cluster import leftovers
from secateur.cluster import needs
from secateur.cluster import resources

NOTHING_RUNS = "--(dry-?run|unlock|lint|summary|detailed-summary|dag|rulegraph|filegraph|list.*|report.*|touch|cleanup-metadata|nolock)|-[a-zA-Z]*n[a-zA-Z]*"

if config.get("resources"):
    try:
        asked = resources.asked(words(config["resources"]), resources.rules_of(ROOT / "workflow" / "rules"))
    except SecateurError as error:
        stop(error)
    resources.override(workflow, asked)

needs.mend()

if workflow.is_main_process:  # the driver, none of its jobs
    executor.mend()

if workflow.is_main_process and not any(re.fullmatch(NOTHING_RUNS, flag) for flag in sys.argv):
    if resources.account_missing(workflow):
        stop(
            "profiles/slurm/config.yaml: slurm_account is CHANGE_ME. Fix: write your account and your partitions there"
            " (sacctmgr show associations user=$USER format=account,partition)."
        )
    leftovers.remember(sys.argv[1:])
