"""Sign-offs with something planted, most of it after the comparison: no report of them opens with a pass.

`sign-off`: what the report opens with: "pass", "differs", "incomplete"; "refused" where there is none.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from backends.precision.compare.comparison import FOLDER
from backends.precision.deeper.spec import DeeperSpec
from backends.precision.deeper.work import ANSWER
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Ended, Journal, Metric, name_of
from tests.planted.verdicts.case import Observation, VerdictCase
from tests.precision.signoff.made import compared_dumps, reported_outcome, sides

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.run import Run

NORM = "Functional.layer_norm.0.forward"


@dataclass(frozen=True)
class SignOff:
    """A comparison of two dumps, each in a run with the same losses; `folder`: where all of it lies."""

    folder: Path
    target: Path
    golden: Path
    comparison: Run

    @property
    def target_run(self) -> Path:
        return self.target.parents[2]

    @property
    def golden_run(self) -> Path:
        return self.golden.parents[2]


def dump_of(side: Path) -> Path:
    return next(side.rglob("dump.json"))


def scale_output(side: Path, factor: float) -> None:
    """Change a figure of a dump."""
    path = dump_of(side)
    content = json.loads(path.read_text())
    figures = content["data"][NORM]["output"][0]
    figures.update({key: figures[key] * factor for key in ("Max", "Min", "Mean", "Norm")})
    path.write_text(json.dumps(content))


def with_old_time(path: Path, change: Callable[[], object]) -> None:
    """Change a file so that it looks as if it had not been written since."""
    status = path.stat()
    change()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def set_losses(run: Path, losses: list[Any], rank: int = 0) -> None:
    for path in run.glob(f"events*.r{rank}.*.jsonl"):
        path.unlink()
    lines = [
        json.dumps({"type": "metric", "time": step, "step": step, "values": {"loss": loss}})
        for step, loss in enumerate(losses, 1)
    ]
    lines.append(json.dumps({"type": "ended", "time": 9, "code": 0, "reason": ""}))
    (run / name_of(1, rank, 100 + rank)).write_text("".join(f"{line}\n" for line in lines))


def losses(**changes: Any) -> list[Any]:
    """The losses of both trainings; loss_3 is that of the third step."""
    values: list[Any] = [1 / step for step in range(1, 9)]
    for name, value in changes.items():
        values[int(name.rpartition("_")[2]) - 1] = value
    return values


def replace_result(sign_off: SignOff) -> None:
    """Lay the result of another comparison, which passes, into one that fails."""
    other = sides(sign_off.folder / "other")
    scale_output(other[0], 1.05)
    failing = compared_dumps(sign_off.folder, *other)
    shutil.rmtree(failing.folder / FOLDER)
    shutil.copytree(sign_off.comparison.folder / FOLDER, failing.folder / FOLDER)
    shutil.rmtree(sign_off.comparison.folder)
    failing.folder.rename(sign_off.comparison.folder)


def begin_from_a_whole_step_that_differs(sign_off: SignOff) -> None:
    other = sides(sign_off.folder / "whole")
    scale_output(other[0], 1.05)
    whole = compared_dumps(sign_off.folder, *other)
    spec = schema.with_value(DeeperSpec(), "comparison", whole.folder)
    deeper = runs.create(sign_off.comparison.folder.parent, "deeper", schema.to_json(spec))
    (deeper.folder / ANSWER).write_text(json.dumps({"comparison": str(sign_off.comparison.folder)}))


def cut_result(sign_off: SignOff) -> None:
    for path in (sign_off.comparison.folder / FOLDER).iterdir():
        path.write_bytes(path.read_bytes()[:40])


def lay_tensors(sign_off: SignOff) -> None:
    folder = dump_of(sign_off.target).parent / "dump_tensor_data"
    folder.mkdir(exist_ok=True)
    (folder / f"{NORM}.output.0.pt").write_bytes(b"other")


def add_rank(side: Path) -> None:
    shutil.copytree(side / "step0" / "rank0", side / "step0" / "rank1")


def cut_dump(side: Path) -> None:
    path = dump_of(side)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


BEFORE: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    "an output 5 % larger": ("differs", lambda target, golden: scale_output(target, 1.05)),
    "a rank that the target lacks": ("incomplete", lambda target, golden: add_rank(golden)),
    "half a dump of the golden side": ("incomplete", lambda target, golden: cut_dump(golden)),
}
"""What is planted in the dumps before they are compared."""
AFTER: dict[str, tuple[str, Callable[[SignOff], object]]] = {
    "a dump that was captured again": ("incomplete", lambda each: scale_output(each.target, 1.5)),
    "a golden dump that was changed and looks as old": (
        "incomplete",
        lambda each: with_old_time(dump_of(each.golden), partial(scale_output, each.golden, 1.5)),
    ),
    "call stacks that were changed and look as old": (
        "incomplete",
        lambda each: with_old_time(
            dump_of(each.target).with_name("stack.json"),
            partial(dump_of(each.target).with_name("stack.json").write_text, "{}"),
        ),
    ),
    "tensors that were written again": ("incomplete", lay_tensors),
    "a dump that is gone": ("incomplete", lambda each: dump_of(each.target).unlink()),
    "a golden run that is gone": ("incomplete", lambda each: shutil.rmtree(each.golden_run)),
    "the result of another comparison": ("incomplete", replace_result),
    "a result that is cut": ("refused", cut_result),
    "a whole step that differs": ("differs", begin_from_a_whole_step_that_differs),
    "a loss that differs": ("differs", lambda each: set_losses(each.target_run, losses(loss_4=0.5))),
    "a loss of another rank that differs": (
        "differs",
        lambda each: [
            set_losses(run, losses(loss_4=value), rank=1)
            for run, value in ((each.target_run, 0.5), (each.golden_run, 0.25))
        ],
    ),
    "a loss that is NaN": ("differs", lambda each: set_losses(each.target_run, losses(loss_8="NaN"))),
    "losses that are NaN in both": (
        "incomplete",
        lambda each: [set_losses(run, losses(loss_8="NaN")) for run in (each.target_run, each.golden_run)],
    ),
    "losses that end early": ("incomplete", lambda each: set_losses(each.target_run, losses()[:5])),
    "losses that neither training recorded": (
        "incomplete",
        lambda each: [set_losses(run, []) for run in (each.target_run, each.golden_run)],
    ),
    "losses of one training alone": ("incomplete", lambda each: set_losses(each.golden_run, [])),
}
"""What is planted between the comparison and the report."""
HEALTHY: dict[str, Callable[[SignOff], object]] = {
    "equal": lambda each: None,
    "losses that differ by rounding": lambda each: set_losses(each.target_run, losses(loss_4=0.25 * (1 + 1e-7))),
    "dumps from elsewhere": lambda each: [(run / "run.json").unlink() for run in (each.target_run, each.golden_run)],
    "another report before": lambda each: reported_outcome(each.folder, each.comparison),
    "a later run of the target": lambda each: Journal(runs.create(each.folder / "later", "script", {}).folder, 1).write(
        Metric(step=1, values={"loss": 9.0}), Ended(code=0)
    ),
}


def sign_off(
    before: Callable[[Path, Path], object] | None, after: Callable[[SignOff], object] | None, folder: Path
) -> Observation:
    target, golden = sides(folder)
    if before is not None:
        before(target, golden)
    try:
        comparison = compared_dumps(folder, target, golden)
        if after is not None:
            after(SignOff(folder, target, golden, comparison))
        state = reported_outcome(folder, comparison)
    except StudioError:
        state = "refused"
    return Observation(state=state, success=state == "pass")


def _case(name: str, state: str, observe: Callable[[Path], Observation]) -> VerdictCase:
    expected = Observation(state=state, success=state == "pass")
    return VerdictCase(name=f"sign-off: {name}", verdict="sign-off", expected=expected, observe=observe)


CASES = (
    *(_case(name, state, partial(sign_off, plant, None)) for name, (state, plant) in BEFORE.items()),
    *(_case(name, state, partial(sign_off, None, plant)) for name, (state, plant) in AFTER.items()),
    *(_case(name, "pass", partial(sign_off, None, change)) for name, change in HEALTHY.items()),
)
