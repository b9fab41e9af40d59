"""What msprof-analyze writes of several ranks (26.2.0): cluster_analysis.db, and the same as text."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TIMES = {"Start Timestamp(us)": 1695115378810042.5, "Elapse Time(ms)": 0.5, "Wait Time(ms)": 0.25}
LINK = {"Transit Size(MB)": 20.5, "Transit Time(ms)": 0.75, "Size Distribution": {"20.5": [1, 0.75]}}


def write_cluster(path: Path, ranks: int = 8) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as base:
        base.execute(
            "CREATE TABLE ClusterStepTraceTime (step TEXT, type TEXT, [index] TEXT, computing REAL,"
            " communication_not_overlapped REAL, overlapped REAL, communication REAL, free REAL)"
        )
        rows = [("1", "rank", str(rank), 8500.25 + rank, 420.5, 80.0, 500.5, 1200.125 * rank) for rank in range(ranks)]
        base.executemany("INSERT INTO ClusterStepTraceTime VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        base.execute("CREATE TABLE HcclTopOpStats (opName TEXT, Count INTEGER, Mean REAL, MinRank INTEGER)")
        base.execute("INSERT INTO HcclTopOpStats VALUES ('hcom_allReduce__822_0_1', 4, 12.5, 3)")
        base.execute("CREATE TABLE HostInfo (hostUid TEXT, hostName TEXT)")
        base.commit()


def write_cluster_texts(folder: Path) -> None:
    """{kind: {step: {operation: {rank: …}}}}, as MindStudio Insight's own test data has it."""
    ranks = {
        str(rank): {
            "Communication Time Info": TIMES,
            "Communication Bandwidth Info": {"HCCS": LINK, "RDMA": LINK},
        }
        for rank in range(2)
    }
    links = {"0-1": {"Transport Type": "HCCS", "Transit Size(MB)": 20.5}}
    _write(folder / "cluster_communication.json", {"collective": {"step1": {"hcom_allReduce__1_0@77": ranks}}})
    _write(folder / "cluster_communication_matrix.json", {"p2p": {"step1": {"hcom_send__1_0@77": links}}})
    _write(folder / "communication_group.json", {"collective": [[0, 1], [0]], "p2p": [[0, 1]]})
    (folder / "cluster_step_trace_time.csv").write_text("Step,Type,Index,Computing\n1,rank,0,12.5\n1,rank,1,11.5\n")


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), "utf-8")
