"""A program that is called a Python interpreter and is none is refused before anything starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from backends.launch.python_probe import refuse_other_program
from studio.errors import StudioError
from tests.command_line import last_json, studio


def test_that_a_program_that_ends_well_without_python_is_refused_and_others_are_not(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="is no Python interpreter"):
        refuse_other_program(Path("/bin/true"))
    refuse_other_program(Path(sys.executable))
    refuse_other_program(Path("/bin/false"))  # the training tells how it fails
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\necho loading modules\nexec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    refuse_other_program(wrapper)


def test_that_a_training_by_no_python_is_not_done(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text("print('step 1 loss 0.5')")
    words = ("launch", "--python", "/bin/true", "--json", "--", "python", "train.py")
    done = studio("--no-project", *words, cwd=tmp_path)
    answer = last_json(done)
    assert done.returncode != 0
    assert (answer["reason"], "/bin/true is no Python interpreter" in answer["message"]) == ("failed_to_start", True)


@pytest.mark.parametrize(("pattern", "is_unread"), [("zzz{loss}", True), ("loss {loss}", False)])
def test_that_a_pattern_that_no_line_fits_is_told_at_the_end(
    tmp_path: Path, homes: Path, pattern: str, is_unread: bool
) -> None:
    (tmp_path / "train.py").write_text("print('step 1 loss 0.5')")
    words = ("launch", "--log-pattern", "own", "--pattern", pattern, "--json", "--", sys.executable, "train.py")
    done = studio("--no-project", *words, cwd=tmp_path)
    assert done.returncode == 0
    assert ("No line of the log fits the pattern of --pattern" in done.stderr) is is_unread
