"""Dumps that are damaged, or of which nothing can be compared: a sentence, and never a pass."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from studio.errors import StudioError
from studio.texts import has
from tests.command_line import studio

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.precision.compare.conftest import Compared


@pytest.fixture
def changed(dumps: Path, tmp_path: Path) -> Callable[..., Path]:
    """A copy of the healthy capture with one of its files rewritten."""

    def change(how: Callable[[Any], Any] | bytes, file: str = "dump.json") -> Path:
        folder = tmp_path / f"changed{len(list(tmp_path.iterdir()))}"
        shutil.copytree(dumps / "healthy", folder)
        (path,) = folder.rglob(file)
        content = how if isinstance(how, bytes) else json.dumps(how(json.loads(path.read_text()))).encode()
        path.write_bytes(content)
        return folder

    return change


def refused(compared: Callable[..., Compared], *sides: str | Path) -> str:
    with pytest.raises(StudioError) as found:
        compared(*sides)
    assert has(found.value.key)
    return found.value.key


def _without_calls(dump: Any) -> Any:
    return dump | {"data": {}}


def test_that_a_dump_without_calls_is_refused(compared: Callable[..., Compared], changed: Callable[..., Path]) -> None:
    empty = changed(_without_calls)
    assert refused(compared, empty, "healthy") == "precision.compare.empty"
    assert refused(compared, "healthy", empty) == "precision.compare.empty"


def test_that_the_record_of_an_optimizer_beside_no_call_is_no_dump(
    compared: Callable[..., Compared], changed: Callable[..., Path]
) -> None:
    empty = changed(_without_calls)
    (path,) = empty.rglob("dump.json")
    parameter = {"name": "0.weight", "before": [1.0, -1.0, 0.0, 1.0], "update": [0.1, -0.1, 0.0, 0.1]}
    record = {"format": 2, "updates": [{"optimizer": "SGD", "groups": [{"parameters": [parameter]}]}]}
    (path.parent / "optimizer.json").write_text(json.dumps(record))
    assert refused(compared, empty, "healthy") == "precision.compare.empty"


@pytest.mark.parametrize("names", [("Mean",), ("Mean", "Norm")])
def test_that_figures_that_one_side_lacks_are_a_gap(
    compared: Callable[..., Compared], changed: Callable[..., Path], names: tuple[str, ...]
) -> None:
    def without(dump: Any) -> Any:
        call = next(call for call in dump["data"].values() if call.get("output"))
        call["output"][0] |= dict.fromkeys(names)
        return dump

    result = compared(changed(without), "healthy")
    assert (result.code, result.answer["verdict"]) == (3, "incomplete")
    gaps = {note["key"]: note["args"] for note in result.answer["gaps"]}
    assert gaps["precision.compare.partial_figures"]["count"] == 1


def test_that_a_dump_cut_off_in_its_first_call_is_refused(
    compared: Callable[..., Compared], changed: Callable[..., Path], dumps: Path
) -> None:
    (path,) = (dumps / "healthy").rglob("dump.json")
    assert refused(compared, changed(path.read_bytes()[:400]), "healthy") == "precision.compare.empty"


def test_that_a_capture_of_the_structure_is_refused_beside_values(compared: Callable[..., Compared]) -> None:
    assert refused(compared, "structure", "healthy") == "precision.compare.structure_only"
    assert refused(compared, "healthy", "structure") == "precision.compare.structure_only"


def test_that_equal_structures_are_no_pass(compared: Callable[..., Compared], dumps: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(dumps / "structure", tmp_path / "copy")
    assert refused(compared, "structure", copy) == "precision.compare.no_values"


def test_that_a_dump_compared_with_itself_is_refused_and_a_copy_of_it_passes(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(dumps / "healthy")
    (file,) = (dumps / "healthy").rglob("dump.json")
    for golden in ("healthy", tmp_path / "link", file):
        assert refused(compared, "healthy", golden) == "precision.rule.same_dump"
    words = ("compare", str(dumps / "healthy"), str(tmp_path / "link"))
    done = studio("--no-project", *words, cwd=tmp_path)
    assert (done.returncode, "nothing was compared with another" in done.stderr) == (2, True)
    assert compared("healthy", shutil.copytree(dumps / "healthy", tmp_path / "copy")).code == 0
    steps = compared("steps", "steps", pairs="1.0=0.0", step_numbers="1")
    assert steps.code == 3, "steps of one capture may be compared"


def _without_statistics(dump: Any) -> Any:
    for call in dump["data"].values():
        for group in call.values():
            for one in group if isinstance(group, list) else group.values():
                if isinstance(one, dict):
                    one.update({key: None for key in ("Max", "Min", "Mean", "Norm") if key in one})
    return dump


def test_that_tensors_without_statistics_are_no_pass(
    compared: Callable[..., Compared], changed: Callable[..., Path]
) -> None:
    assert refused(compared, changed(_without_statistics), "healthy") == "precision.compare.no_values"


def test_that_half_a_character_in_a_name_does_no_harm(
    compared: Callable[..., Compared], changed: Callable[..., Path]
) -> None:
    def renamed(dump: Any) -> Any:
        names = {name: f"Functional.\ud800.{n}.forward" if n == 3 else name for n, name in enumerate(dump["data"])}
        return dump | {"data": {names[name]: call for name, call in dump["data"].items()}}

    found = compared(changed(renamed), "healthy")
    assert found.first["name"] == "Functional.?.3.forward"


def test_that_two_captures_in_a_folder_are_refused(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    for name in ("healthy", "ulp"):
        shutil.copytree(dumps / name, tmp_path / "two" / name)
    assert refused(compared, tmp_path / "two", "healthy") == "precision.dump.several"
    assert refused(compared, "healthy", tmp_path / "two") == "precision.dump.several"


@pytest.mark.parametrize("file", ["stack.json", "construct.json"])
def test_that_a_damaged_file_beside_the_dump_is_told_by_its_name(
    compared: Callable[..., Compared], changed: Callable[..., Path], file: str
) -> None:
    found = compared(changed(b'{"0": [', file), "healthy")
    assert found.answer["notes"] == [f"precision.dump.{file.split('.')[0]}_damaged"]
    assert (found.code, found.answer["verdict"]) == (3, "incomplete")


def test_that_what_stands_behind_a_whole_dump_is_told_without_a_number(
    compared: Callable[..., Compared], changed: Callable[..., Path], dumps: Path
) -> None:
    (path,) = (dumps / "healthy").rglob("dump.json")
    found = compared(changed(path.read_bytes() + b"}}"), "healthy")
    assert found.answer["notes"] == ["precision.compare.unclean_dump"]
    assert (found.code, found.answer["verdict"]) == (0, "pass")
