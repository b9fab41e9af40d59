"""Findings as tests need them."""

from __future__ import annotations

from typing import Any

from backends.migration.found import STATES, Found
from backends.migration.scan.overview import Basis, Overview, heat, per_state


def finding(**values: Any) -> Found:
    usual = {
        "kind": "place", "path": "train.py", "line": 1, "end": 1, "category": "cuda_api", "rule": "cuda_api.overlaid",
        "state": "auto", "effort": 0, "text": "torch.cuda.is_available()", "name": "torch.cuda.is_available",
    }  # fmt: skip
    return Found(**{**usual, **values})


def overview(*found: Found, **values: Any) -> Overview:
    usual = {
        "folder": "/a/project", "seconds": 0.1, "files": 1, "lines": 10, "kinds": {"python": 1},
        "places": per_state(found, "place"), "advice": per_state(found, "advice"), "hours": (0.0, 1.0),
        "heat": heat(found, {}), "libraries": (), "apis": (), "notes": (), "notes_more": 0,
        "facts": Basis(key="rule_facts.shipped", args={"version": "2.13.0", "folder": "", "table": "2.13"}),
        "suppressed": {},
    }  # fmt: skip
    assert set(usual["places"]) == set(STATES)
    return Overview(**{**usual, **values})
