"""Findings as tests need them."""

from __future__ import annotations

from typing import Any

from backends.migration.finding import STATES, ScanFinding
from backends.migration.scan.overview import FactsBasis, Overview, count_by_state, file_heat


def finding(**values: Any) -> ScanFinding:
    usual = {
        "kind": "place", "path": "train.py", "line": 1, "end": 1, "category": "cuda_api", "rule": "cuda_api.overlaid",
        "state": "auto", "effort": 0, "text": "torch.cuda.is_available()", "name": "torch.cuda.is_available",
    }  # fmt: skip
    return ScanFinding(**{**usual, **values})


def overview(*findings: ScanFinding, **values: Any) -> Overview:
    usual = {
        "folder": "/a/project", "seconds": 0.1, "files": 1, "lines": 10, "kinds": {"python": 1},
        "places": count_by_state(findings, "place"), "advice": count_by_state(findings, "advice"), "hours": (0.0, 1.0),
        "heat": file_heat(findings, {}), "libraries": (), "apis": (), "notes": (), "notes_more": 0,
        "facts": FactsBasis(key="rule_facts.shipped", args={"version": "2.13.0", "folder": "", "table": "2.13"}),
        "suppressed": {},
    }  # fmt: skip
    assert set(usual["places"]) == set(STATES)
    return Overview(**{**usual, **values})
