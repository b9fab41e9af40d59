"""Planted faults over launch, curves, captures, Home, predictions and the timeline: none may be told as success.

Each case (tests/planted/verdicts) names its verdict, the state and the exit code that must be told. A fault that is
told as success fails the proof; of the healthy cases, two may be told as faults. A state or an exit code that is
another than the expected one is printed, and fails it too.

ASCEND_STUDIO_ONLY: a pattern of the cases' names.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.planted.verdicts.case import Observation
from tests.planted.verdicts.collection import every_case

if TYPE_CHECKING:
    from tests.planted.verdicts.case import VerdictCase

FALSE_ALARMS_ALLOWED = 2


def prove() -> dict[str, Any]:
    cases = [case for case in every_case() if re.search(os.environ.get("ASCEND_STUDIO_ONLY", ""), case.name)]
    with tempfile.TemporaryDirectory() as name:
        observations = {case.name: _observe(case, Path(name) / str(number)) for number, case in enumerate(cases)}
    faults = [case for case in cases if case.is_fault]
    healthy = [case for case in cases if not case.is_fault]
    silent = [case.name for case in faults if observations[case.name].success]
    alarms = [case.name for case in healthy if not observations[case.name].success]
    different = [case.name for case in faults if case.name not in silent and observations[case.name] != case.expected]
    return {
        "passed": bool(cases) and not silent and not different and len(alarms) <= FALSE_ALARMS_ALLOWED,
        "faults": len(faults), "healthy": len(healthy), "told as success": silent, "false alarms": alarms,
        "told otherwise than expected": different, "faults by verdict": _by_verdict(faults),
        "healthy by verdict": _by_verdict(healthy),
    }  # fmt: skip


def _observe(case: VerdictCase, folder: Path) -> Observation:
    folder.mkdir()
    try:
        observation = case.observe(folder)
    except Exception as error:  # a case that cannot be judged is no success, whatever is planted
        observation = Observation(state=f"{type(error).__name__}: {error}", success=case.is_fault)
    kind = "fault  " if case.is_fault else "healthy"
    mark = "as expected" if observation == case.expected else f"EXPECTED {case.expected}"
    print(f"{kind} {case.verdict:20} {case.name:60} {observation.state} {mark}", file=sys.stderr, flush=True)
    return observation


def _by_verdict(cases: list[VerdictCase]) -> dict[str, int]:
    verdicts = sorted({case.verdict for case in cases})
    return {verdict: sum(case.verdict == verdict for case in cases) for verdict in verdicts}
