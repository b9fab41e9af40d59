"""A second golden run: what it allows is said, and one that would allow everything is refused."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from backends.precision.compare.spec import CompareSpec
from studio import schema
from studio.errors import StudioError
from studio.events import Note
from studio.run import last_events
from studio.texts import has, t
from tests.precision.dump.recorded import DUMPS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.precision.compare.conftest import Compared


def refusal(compared: Callable[..., Compared], target: str, golden: str, again: Path) -> str:
    with pytest.raises(StudioError) as refused:
        compared(target, golden, golden_again=again)
    assert has(refused.value.key)
    return refused.value.key


@pytest.mark.parametrize("side", ["target", "golden"])
def test_that_the_folder_of_a_side_is_wrong_use(dumps: Path, tmp_path: Path, side: str) -> None:
    spec = CompareSpec()
    for name, path in {"target": dumps / "scale", "golden": dumps / "healthy"}.items():
        spec = schema.with_value(spec, name, path)
    link = tmp_path / "link"
    link.symlink_to(dumps / ("scale" if side == "target" else "healthy"))
    problems = schema.problems(schema.with_value(spec, "golden_again", link))
    assert [problem.rule for problem in problems] == ["precision.rule.golden_again_twice"]


def test_that_a_copy_of_the_targets_dump_is_refused(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    shutil.copytree(dumps / "scale", tmp_path / "copy")
    assert refusal(compared, "scale", "healthy", tmp_path / "copy") == "precision.compare.again_is_target"


def test_that_a_copy_of_the_golden_dump_is_refused(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    shutil.copytree(dumps / "healthy", tmp_path / "copy")
    assert refusal(compared, "scale", "healthy", tmp_path / "copy") == "precision.compare.again_is_golden"


def test_that_another_network_is_refused(compared: Callable[..., Compared]) -> None:
    other = DUMPS / "torch_statistics"
    assert refusal(compared, "scale", "healthy", other) == "precision.compare.again_other_program"


def test_that_the_same_network_with_other_weights_is_refused(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    shutil.copytree(dumps / "healthy", tmp_path / "other")
    (path,) = (tmp_path / "other").rglob("dump.json")
    dump = json.loads(path.read_text())
    for call in dump["data"].values():
        for value in (*call.get("input_args", [])[1:], *call.get("parameters", {}).values()):
            if isinstance(value, dict) and value.get("dtype") == "torch.float32":
                value.update({key: value[key] * 1.3 for key in ("Max", "Min", "Mean", "Norm")})
    path.write_text(json.dumps(dump))
    assert refusal(compared, "ulp", "healthy", tmp_path / "other") == "precision.compare.again_other_weights"


def test_that_the_noise_that_was_allowed_is_stated(compared: Callable[..., Compared], dumps: Path) -> None:
    plain, noisy = compared("ulp", "healthy"), compared("ulp", "healthy", golden_again=dumps / "ulp_again")
    assert plain.answer["golden_again"] is None
    noise = noisy.answer["golden_again"]
    assert noise["folder"] == str(dumps / "ulp_again")
    assert noise["values"] > 100
    assert 0 < noise["largest"] < 1
    assert noise["name"] in noisy.comparison.names
    said = [t(event.key, **event.args) for event in last_events(noisy.run.folder) if isinstance(event, Note)]
    assert any(noise["name"] in sentence for sentence in said)


def test_that_values_that_pass_by_the_noise_alone_are_counted(compared: Callable[..., Compared], dumps: Path) -> None:
    """Another golden capture with the divergence in it hides it, and says so."""
    hidden = compared("cast", "healthy", golden_again=dumps / "autocast")
    assert hidden.answer["golden_again"]["by_noise"] > 0
