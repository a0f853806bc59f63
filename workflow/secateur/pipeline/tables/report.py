"""Tables of tracking: what MLflow shows of variants and jobs."""

from secateur.pipeline.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "variant_runs",
        1,
        "What MLflow shows of a row of figures: settings, costs and figures of one variant under one fingerprint.",
        "track_variants, secateur track",
        ("experiment", "dataset", "system", "order", "scorer", "fingerprint"),
        {
            "experiment": Column(S, "experiment"),
            "dataset": Column(S, "data set"),
            "system": Column(S, "system or variant"),
            "order": Column(S, "blind or aware; null where neither", True),
            "scorer": Column(S, "scorer; null for graph systems", True),
            "fingerprint": Column(S, "digest of settings, code and inputs of all stages behind the figures"),
            "place": Column(I32, "in the order in which the runs of a row were current, from 0"),
            "started": Column(S, "start of the first stage behind it, ISO 8601"),
            "finished": Column(S, "end of the last one"),
            "params": Column(S, "JSON: the row, its options, the settings that differ from the option files"),
            "config": Column(S, "JSON: settings, code digests and inputs by stage"),
            "metrics": Column(S, "JSON: name, value and step of each metric"),
            "figures": Column(S, "CSV: the rows of the table metrics"),
        },
    ),
    Table(
        "job_runs",
        1,
        "Every stage record that was seen, failures included.",
        "secateur track",
        ("experiment", "job"),
        {
            "experiment": Column(S, "experiment"),
            "job": Column(S, "digest of the record"),
            "stage": Column(S, "rule"),
            "finished": Column(S, "when it ended, ISO 8601"),
            "failed": Column(B, "whether it failed"),
            "record": Column(S, "JSON: run.json or failure.json"),
        },
    ),
)
