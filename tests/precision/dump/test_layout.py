"""Where dumps lie, whatever was pointed at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from backends.precision.dump import layout
from backends.precision.dump.layout import find_dumps, refuse_several_captures
from studio.errors import StudioError
from tests.precision.dump.recorded import DUMPS, dump_at, folder_of

if TYPE_CHECKING:
    from pathlib import Path


def numbers(path: Path) -> list[tuple[int | None, int | None]]:
    return [(place.step, place.rank) for place in find_dumps(path)]


@pytest.mark.parametrize("below", ["", "step0", "step0/rank3", "step0/rank3/dump.json"])
def test_that_a_capture_is_found_from_every_folder_of_it(tmp_path: Path, below: str) -> None:
    dump_at(tmp_path / "capture" / "step0" / "rank3")
    (place,) = find_dumps(tmp_path / "capture" / below)
    assert (place.step, place.rank, place.label, place.file) == (0, 3, "rank3", "dump.json")
    assert place.folder == tmp_path / "capture" / "step0" / "rank3"
    assert place.root == tmp_path / "capture"


def test_that_steps_and_ranks_are_sorted_by_number(tmp_path: Path) -> None:
    for name in ("step10/rank1", "step10/rank0", "step2/rank10", "step2/rank9"):
        dump_at(tmp_path / name)
    assert numbers(tmp_path) == [(2, 9), (2, 10), (10, 0), (10, 1)]


def test_that_processes_without_ranks_are_numbered_by_their_order(tmp_path: Path) -> None:
    for name in ("step0/proc900", "step0/proc1000", "step1/proc1000", "step1/proc900"):
        dump_at(tmp_path / name)
    assert [(place.step, place.rank, place.label) for place in find_dumps(tmp_path)] == [
        (0, 0, "proc900"),
        (0, 1, "proc1000"),
        (1, 0, "proc900"),
        (1, 1, "proc1000"),
    ]


def test_that_the_folder_rank_of_msprobe_8_is_rank_0(tmp_path: Path) -> None:
    dump_at(tmp_path / "step5" / "rank")
    assert numbers(tmp_path) == [(5, 0)]


def test_that_folders_of_any_name_are_found_without_a_number(tmp_path: Path) -> None:
    dump_at(tmp_path / "来自 GPU 🚀" / "line\nbreak")
    (place,) = find_dumps(tmp_path)
    assert (place.step, place.rank, place.label) == (None, None, "line\nbreak")


def test_that_a_file_of_another_name_is_read_as_it_is_called(tmp_path: Path) -> None:
    (dump_at(tmp_path / "copied") / "dump.json").rename(tmp_path / "copied" / "gpu_dump.json")
    (place,) = find_dumps(tmp_path / "copied" / "gpu_dump.json")
    assert place.file == "gpu_dump.json"


def test_that_a_run_gives_its_newest_capture_that_has_dumps(tmp_path: Path) -> None:
    captures = tmp_path / "artifacts" / "captures"
    for age, name in enumerate(("newest-but-empty", "newer", "older")):
        (captures / name).mkdir(parents=True)
        if age:
            dump_at(captures / name / "step7" / "proc42")
        os.utime(captures / name, (1000 - age, 1000 - age))
    (place,) = find_dumps(tmp_path)
    assert place.root == captures / "newer"
    assert numbers(captures / "older") == [(7, 0)]


def test_that_a_run_without_captures_may_hold_dumps_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "artifacts" / "captures" / "empty").mkdir(parents=True)
    dump_at(tmp_path / "artifacts" / "twice" / "step0" / "rank0")
    assert numbers(tmp_path) == [(0, 0)]


def test_that_only_the_nearest_folders_are_steps_and_ranks(tmp_path: Path) -> None:
    dump_at(tmp_path / "step9" / "rank9" / "a" / "b" / "c")
    dump_at(tmp_path / "step3" / "train" / "rank1")
    assert sorted(numbers(tmp_path), key=str) == [(3, 1), (None, None)]


def test_that_links_in_a_circle_are_walked_once(tmp_path: Path) -> None:
    dump_at(tmp_path / "step0" / "rank0")
    (tmp_path / "step0" / "rank0" / "back").symlink_to(tmp_path)
    (tmp_path / "step0" / "self").symlink_to(tmp_path / "step0" / "self")
    assert numbers(tmp_path) == [(0, 0)]


def test_that_the_folder_of_tensors_is_not_walked(tmp_path: Path) -> None:
    dump_at(tmp_path / "step0" / "rank0" / "dump_tensor_data")
    with pytest.raises(StudioError) as error:
        find_dumps(tmp_path)
    assert error.value.key == "precision.dump.none_here"


def test_that_what_is_not_there_or_holds_nothing_or_too_much_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(StudioError) as error:
        find_dumps(tmp_path / "nowhere")
    assert error.value.key == "precision.dump.no_such_place"
    for number in range(4):
        (tmp_path / str(number)).mkdir()
    with pytest.raises(StudioError) as error:
        find_dumps(tmp_path)
    assert error.value.key == "precision.dump.none_here"
    monkeypatch.setattr(layout, "MAX_ENTRIES", 3)
    with pytest.raises(StudioError) as error:
        find_dumps(tmp_path)
    assert error.value.key == "precision.dump.too_many_files"


def test_that_several_captures_below_a_folder_are_told_from_one(tmp_path: Path) -> None:
    for name in ("a/step0/rank0", "b/step0/rank0"):
        dump_at(tmp_path / name)
    refuse_several_captures(find_dumps(tmp_path / "a"))
    with pytest.raises(StudioError) as error:
        refuse_several_captures(find_dumps(tmp_path))
    assert error.value.key == "precision.dump.several"
    assert error.value.values["count"] == 2


def test_that_a_real_capture_is_found() -> None:
    (place,) = find_dumps(DUMPS / "torch_tensor")
    assert place.folder == folder_of("torch_tensor")
    assert (place.step, place.rank) == (0, 0)
