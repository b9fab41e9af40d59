"""Dumps of a small transformer by the real torch and msprobe, made once, and comparisons of them in this process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import FOLDER, comparison_answer
from backends.precision.compare.comparison_files import open_comparison
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from studio import run as runs
from studio import schema
from tests.shared_folders import made_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run


@pytest.fixture(scope="session")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "dumps of 中文", _capture)


def _capture(folder: Path) -> None:
    """msprobe itself writes to no folder of such a name."""
    plain = folder.with_name("captured")
    plain.mkdir(exist_ok=True)
    script = Path(__file__).with_name("captured.py")
    done = subprocess.run([sys.executable, str(script), str(plain)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    folder.rmdir()
    plain.rename(folder)


@dataclass(frozen=True)
class Compared:
    code: int
    answer: dict[str, Any]
    run: Run

    @property
    def first(self) -> dict[str, Any]:
        return dict(self.answer["first_divergence"])

    @property
    def comparison(self) -> Comparison:
        return open_comparison(self.run.folder / FOLDER)


@pytest.fixture
def compared(dumps: Path, tmp_path: Path) -> Callable[..., Compared]:
    def compare_them(target: str | Path, golden: str | Path, **values: Any) -> Compared:
        spec = CompareSpec()
        for name, value in {"target": dumps / target, "golden": dumps / golden, **values}.items():
            spec = schema.with_value(spec, name, value)
        folder = tmp_path / "project" / "runs"
        folder.mkdir(parents=True, exist_ok=True)
        run = runs.create(folder, "compare", schema.to_json(spec))
        return Compared(compare(spec, run).code, comparison_answer(run), run)

    return compare_them
