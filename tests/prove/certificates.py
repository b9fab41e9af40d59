"""Sixty planted wrong migrations, each refused for the right reason, and thirty good ones, granted.

Rehearsals are forks of a process that has PyTorch imported, and certificates of one original share its rehearsal; all
else is what `certify` does. ASCEND_STUDIO_ONLY: a pattern of the cases' names.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.planted.migrations.forked import Forge
from tests.planted.migrations.right import right_cases
from tests.planted.migrations.wrong import wrong_cases

if TYPE_CHECKING:
    from tests.planted.migrations.case import MigrationCase

REFUSED_NEEDED, GRANTED_NEEDED = 57, 30


def prove() -> dict[str, Any]:
    pattern = os.environ.get("ASCEND_STUDIO_ONLY", "")
    cases = [case for case in (*wrong_cases(), *right_cases()) if re.search(pattern, case.name)]
    with tempfile.TemporaryDirectory() as name:
        forge = Forge(Path(name))
        verdicts = {case.name: _try(case, forge, Path(name)) for case in cases}
        forge.close()
    wrong = [case for case in cases if case.kind]
    good = [case for case in cases if not case.kind]
    refused = sum(not verdicts[case.name] for case in wrong)
    granted = sum(not verdicts[case.name] for case in good)
    return {
        "passed": refused >= REFUSED_NEEDED and granted >= GRANTED_NEEDED,
        "wrong": len(wrong), "refused": refused, "good": len(good), "granted": granted,
        "kinds": dict(Counter(case.kind for case in wrong)),
        "not as expected": {name: verdict for name, verdict in verdicts.items() if verdict},
    }  # fmt: skip


def _try(case: MigrationCase, forge: Forge, folder: Path) -> str:
    verdict = case.verdict(case.certify(forge, folder))
    print(f"{case.kind or 'good':9} {case.name:60} {verdict or 'as expected'}", file=sys.stderr, flush=True)
    return verdict
