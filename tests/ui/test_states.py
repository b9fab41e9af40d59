"""Every page in every state, as the pictures show them, without a fault: `bootstrap.py shots` in short."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

import pytest

from tests.bench.stage import wait
from tests.shots.stage import Stage, build
from tests.shots.states import STATES
from tests.ui.looks import faults, left_in_chinese
from ui.widgets import theme

if TYPE_CHECKING:
    from studio.texts import Language
    from ui.shell.window import Shell

LOOKS: tuple[tuple[Language, theme.Name, int, int], ...] = (
    ("zh", "light", 1280, 800),
    ("en", "light", 1920, 1080),
    ("en", "dark", 1280, 800),
    ("zh", "dark", 1920, 1080),
)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Real trainings of `linear`, one of them refused by MindSpore."""
    made = Stage(folder=tmp_path_factory.mktemp("stage") / "work", whole=False)
    build(made)
    return made


def lasting_faults(shell: Shell) -> list[str]:
    """Charts come one by one: on a busy machine they find their places later. Return what stays wrong."""
    found: list[str] = []

    def is_faultless() -> bool:
        found[:] = faults(shell)
        return not found

    with contextlib.suppress(TimeoutError):
        wait(is_faultless, 30)
    return found


@pytest.mark.parametrize("state", [state for state in STATES if not state.needs_whole], ids=lambda state: state.name)
def test_that_no_state_of_a_page_has_a_fault_in_any_look(shell: Shell, stage: Stage, state: object) -> None:
    found = []
    for language, look, width, height in LOOKS:
        shell.resize(width, height)
        shell.use_language(language)
        if look != theme.current():  # styling the window again is what takes longest here
            shell.use_theme(look)
        state.show(shell, stage)  # type: ignore[attr-defined]
        end = time.monotonic() + 0.3
        wait(lambda end=end: time.monotonic() > end, 5)
        found += [f"{language} {look} {width}: {fault}" for fault in lasting_faults(shell)]
        found += [] if language == "zh" else left_in_chinese(shell)
    assert not found
