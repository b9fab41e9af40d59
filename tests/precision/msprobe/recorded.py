"""What msprobe itself wrote."""

from __future__ import annotations

from studio.paths import ROOT

RECORDED = ROOT / "tests" / "recorded" / "precision_tools"
