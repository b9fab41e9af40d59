"""What the program relies on in torch_npu, held against the wheel that fits the torch in use and the newest one."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.contract.conftest import downloaded
from tests.contract.torch_npu_facts import facts, release, table
from tests.shared_folders import made_once

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made_once(tmp_path_factory, "newest_torch_npu_wheel", lambda folder: downloaded(folder, "torch_npu"))
    return next(folder.glob("*.whl"))


def test_that_the_wheel_in_use_has_all_that_is_relied_on(wheel: Path) -> None:
    assert [name for name, is_there in facts(wheel).items() if not is_there] == []


def test_that_the_newest_wheel_has_all_that_is_relied_on(newest: Path) -> None:
    assert [name for name, is_there in facts(newest).items() if not is_there] == []


def test_that_what_a_wheel_lacks_is_named(wheel: Path, tmp_path: Path) -> None:
    copy = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as opened, zipfile.ZipFile(copy, "w") as written:
        for name in opened.namelist():
            if name.endswith(".py"):
                text = (
                    opened.read(name).replace(b"def set_device(", b"def choose(").replace(b"rank_list", b"rank_names")
                )
                written.writestr(name, text)
    lacking = {name for name, is_there in facts(copy).items() if not is_there}
    assert {"torch_npu.npu.set_device", "profiler_config.json: rank_list"} <= lacking
    assert f"torch_npu.npu.set_device\t{release(copy)}" in table([copy])
