"""What a terminal is told of a run while it goes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from studio import run as runs
from studio import texts
from studio.events import Ended, Finding, Journal, Metric, Note
from studio.follow import follow

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from studio.events import Event
    from studio.run import Run

TAKEN = Finding(rule="launch.debug_port_taken", severity="error", args={"port": 5678, "reason": "in use"})
LOST = Finding(rule="launch.nan_stopped", severity="error", args={"step": 3, "what": "loss", "value": "NaN"})


def tell(run: Run, rank: int, *events: Event) -> None:
    """As a process of that rank does."""
    Journal(run.folder, 1).write(*events)
    (written,) = run.folder.glob("events.a1.r0.*")
    written.rename(written.with_name(written.name.replace(".r0.", f".r{rank}.")))


def test_that_a_terminal_reads_why_any_rank_failed_once_and_all_else_of_rank_0(tmp_path: Path) -> None:
    run = runs.create(tmp_path, "launch", {})
    tell(run, 1, Note(key="launch.stopped", args={"step": 9}), TAKEN, LOST)
    Journal(run.folder, 1).write(TAKEN, Note(key="launch.stopped", args={"step": 2}), Ended(code=1))
    said: list[str] = []
    assert follow(run, said.append, may_revive=True).code == 1
    expected = [texts.t(one.rule, **one.args) for one in (TAKEN, LOST)]
    assert sorted(said) == sorted([*expected, texts.t("launch.stopped", step=2)])


def test_that_it_never_sleeps_while_there_is_more_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.create(tmp_path, "launch", {})
    lines = b'{"type":"metric","time":1,"step":1,"values":{"loss":0.5}}\n' * 50_000
    (run.folder / "events.a1.r0.p1.jsonl").write_bytes(lines)
    Journal(run.folder, 1).write(Ended(code=0))
    naps: list[float] = []
    monkeypatch.setattr(time, "sleep", naps.append)
    assert follow(run, print_message=lambda _text: None, may_revive=True).state == "ended"
    assert not naps


def test_that_an_event_file_that_cannot_be_read_holds_up_nothing(tmp_path: Path) -> None:
    run = runs.create(tmp_path, "launch", {})
    (run.folder / "events.a1.r1.p1.jsonl").mkdir()
    Journal(run.folder, 1).write(Metric(step=1, values={"loss": 0.5}), Ended(code=0))
    assert follow(run, print_message=lambda _text: None, may_revive=True).state == "ended"
