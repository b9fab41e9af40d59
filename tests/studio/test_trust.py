"""Trust is of a folder as it was, not of a path."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from studio import files, paths
from studio.run import create
from studio.security import trust

if TYPE_CHECKING:
    from pathlib import Path


def test_that_another_folder_at_a_trusted_path_is_asked_about_again(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    trust.set_trust(folder, True)
    assert trust.is_trusted(folder)
    folder.rename(tmp_path / "moved")
    folder.mkdir()
    assert not trust.is_trusted(folder)
    assert not trust.is_trusted(tmp_path / "moved")
    (tmp_path / "link").symlink_to(folder)
    trust.set_trust(folder, True)
    assert trust.is_trusted(tmp_path / "link")
    trust.set_trust(folder, False)
    assert not trust.is_trusted(folder)


def test_that_answers_of_an_earlier_studio_are_asked_for_again(tmp_path: Path) -> None:
    paths.config_home().mkdir(parents=True)
    files.write_json(paths.config_home() / "trust.json", {"trusted": [str(tmp_path)]})
    assert not trust.is_trusted(tmp_path)
    trust.set_trust(tmp_path, True)
    assert trust.is_trusted(tmp_path)


def test_that_a_project_that_its_group_writes_to_is_asked_about_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    assert not trust.is_sharing_open(tmp_path)
    tmp_path.chmod(0o2770)
    assert trust.is_sharing_open(tmp_path)
    trust.set_sharing(tmp_path, False)
    assert (trust.is_sharing_open(tmp_path), trust.is_shared(tmp_path)) == (False, False)
    trust.set_sharing(tmp_path, True)
    assert (trust.is_sharing_open(tmp_path), trust.is_shared(tmp_path)) == (False, True)


def test_that_runs_of_a_shared_project_are_read_by_the_group_of_the_project_and_by_nobody_else(tmp_path: Path) -> None:
    group = 4242 if os.geteuid() == 0 else next((gid for gid in os.getgroups() if gid != os.getegid()), os.getegid())
    project = tmp_path / "project"
    project.mkdir()
    os.chown(project, -1, group)
    for is_agreed, mode in ((False, 0o700), (True, 0o2750)):
        trust.set_sharing(project, is_agreed)
        folder = create(tmp_path / "runs", "launch", {}, project).folder
        assert stat.S_IMODE(folder.stat().st_mode) == mode
        assert (folder.stat().st_gid == group) >= is_agreed
        assert ((folder / "run.json").stat().st_gid == group) >= is_agreed
        assert bool((folder / "run.json").stat().st_mode & 0o040) == is_agreed
        assert not (folder / "run.json").stat().st_mode & 0o007
