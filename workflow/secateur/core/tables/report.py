"""Tables of tracking: what MLflow shows of variants and jobs."""

from secateur.core.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "variant_runs",
        2,
        "What MLflow shows of a system on a data set: settings, costs and figures of one variant under one fingerprint.",
        "track_variants, secateur track",
        ("experiment", "dataset", "system", "order", "fingerprint"),
        {
            "experiment": Column(S, "experiment"),
            "dataset": Column(S, "data set"),
            "system": Column(S, "system or variant"),
            "order": Column(S, "blind or aware; null where its rows say it themselves", True),
            "fingerprint": Column(S, "digest of settings, code and inputs of all stages behind the figures"),
            "whole": Column(S, "digest of the fingerprints of the experiment that it last was a part of"),
            "place": Column(I32, "in the order in which the runs of a row were current, from 0"),
            "started": Column(S, "start of the first stage behind it, ISO 8601"),
            "finished": Column(S, "end of the last one"),
            "params": Column(S, "JSON: what it is, and the options and settings that differ from the defaults"),
            "config": Column(S, "JSON: settings, code digests and inputs by stage"),
            "metrics": Column(S, "JSON: name, value and step of each metric"),
            "figures": Column(S, "CSV: the rows of the table metrics, of every scorer"),
            "data": Column(S, "JSON: name, digest and source of the questions"),
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
