"""The window remembers; what is damaged is left at its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.common.npu_devices import npu_names
from studio import files
from ui.services import settings
from ui.services.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_that_settings_come_back() -> None:
    kept = Settings(language="zh", theme="dark", width=1600)
    kept.remember_project("/a 项目")
    settings.save(kept)
    assert settings.load() == kept


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b'"x"'])
def test_that_a_damaged_file_gives_defaults(homes: Path, data: bytes) -> None:
    file = homes / "config" / "ascend-studio" / "settings.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    assert settings.load() == Settings()


def test_that_one_wrong_value_loses_no_other(homes: Path) -> None:
    folder = homes / "config" / "ascend-studio"
    folder.mkdir(parents=True)
    files.write_json(folder / "settings.json", {"width": "wide", "language": "zh", "of_a_newer_studio": 1})
    assert settings.load() == Settings(language="zh")


def test_that_recent_projects_are_the_last_ones_once_each() -> None:
    kept = Settings()
    for number in (*range(12), 5):
        kept.remember_project(f"/p{number}")
    assert kept.recent[:2] == ["/p5", "/p11"]
    assert len(kept.recent) == settings.RECENT
    kept.remember_project("")
    assert (kept.project, kept.recent[0]) == ("", "/p5")


def test_that_cards_are_counted_by_number(tmp_path: Path) -> None:
    for name in ("davinci10", "davinci2", "davinci_manager", "davinci", "null"):
        (tmp_path / name).touch()
    assert npu_names(str(tmp_path)) == ("davinci2", "davinci10")
    assert npu_names(str(tmp_path / "gone")) == ()
