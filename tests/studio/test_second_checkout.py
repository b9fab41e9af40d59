"""Two checkouts in one environment: each runs its own code, also in the workers that it starts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from studio.paths import ROOT

FEATURE = """
from dataclasses import dataclass, field

from studio.events import Ended
from studio.feature import Action, Feature
from studio.schema import option


@dataclass(frozen=True, kw_only=True)
class Greeting:
    word: str = option("")


@dataclass(frozen=True, kw_only=True)
class GreetSpec:
    greeting: Greeting = field(default_factory=Greeting)


def greet(spec, run):
    (run.folder / "artifacts" / "greeting").write_text(__file__)
    return Ended(code=0)


GREET = Action(name="greet", spec=GreetSpec, work="backends.greeting:greet")
FEATURE = Feature(id="greeting", order=90, actions=(GREET,))
"""


def test_that_a_second_checkout_in_one_environment_runs_its_own_code(tmp_path: Path) -> None:
    checkout = tmp_path / "second checkout"
    for part in ("studio", "backends", "assets"):
        shutil.copytree(ROOT / part, checkout / part, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    (checkout / "backends" / "greeting").mkdir()
    (checkout / "backends" / "greeting" / "__init__.py").write_text(FEATURE, encoding="utf-8")
    line = [sys.executable, "-I", str(checkout / "studio" / "__main__.py"), "--no-project", "greet", "--json"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, answer["code"]) == (0, 0), done.stderr
    written = (Path(answer["run"]) / "artifacts" / "greeting").read_text(encoding="utf-8")
    assert Path(written).is_relative_to(checkout)
