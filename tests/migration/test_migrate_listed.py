"""Only what somebody has read is applied: decisions name the hunks, and the digests of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from backends.migration.migrate.changes import Changes as Plan
from backends.migration.migrate.changes import Decisions, FileChanges, Hunk
from backends.migration.migrate.decisions import accepted_hunks, files_changed_since, reject_unlisted
from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from tests.migration.plans import (
    files_below,
    of,
    plan_project,
    project,
)

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = 'import torch\n\ndevice = torch.device("cuda")\nif device.type == "cuda":\n    print("gpu")\n'
NEW = 'if device.type == "cuda":\n    print("later")\n'


def hunk(number: int, state: str, group: str) -> Hunk:
    return Hunk(
        id=f"h{number}", path=f"f{number % 3}.py", first=number + 1, last=number + 1, before="a\n", after="b\n",
        rules=("r",), state=state, group=group,
    )  # type: ignore[arg-type]  # fmt: skip


HUNKS = st.lists(st.tuples(st.sampled_from(("ready", "offered", "yours")), st.sampled_from(("", "g", "k"))), max_size=9)


@given(HUNKS, st.sets(st.integers(0, 9)))
def test_that_nothing_is_in_that_is_not_listed(states: list[tuple[str, str]], listed: set[int]) -> None:
    hunks = tuple(hunk(number, state, group) for number, (state, group) in enumerate(states))
    plan = Plan(folder="/p", style="minimal", files=(FileChanges(path="f", encoding="utf-8", digest="", hunks=hunks),))
    decisions = Decisions(accept=tuple(f"h{number}" for number in listed))
    inside = {accepted.id for accepted in accepted_hunks(plan, reject_unlisted(plan, decisions))}
    assert inside <= set(decisions.accept)
    alone = {
        listed_hunk.id
        for listed_hunk in hunks
        if listed_hunk.id in decisions.accept and listed_hunk.state != "yours" and not listed_hunk.group
    }
    assert alone <= inside


def test_that_a_hunk_that_came_after_the_review_is_left_out_and_its_file_is_named(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", train__py=TRAIN, same__py=TRAIN)
    reviewed = plan_project(folder, "minimal")
    decisions = Decisions(
        accept=tuple(hunk.id for hunk in accepted_hunks(reviewed)),
        digests={file.path: file.digest for file in reviewed.files},
    )
    (tmp_path / "said.json").write_bytes(msgspec.json.encode(decisions))
    (folder / "train.py").write_text(TRAIN + NEW)
    source = Migrated(path=folder, style="minimal", accept="listed", decisions=tmp_path / "said.json")
    run, code = of(tmp_path, MigrateSpec(migrated=source, result=Result(into=tmp_path / "copy")))
    assert code == 0
    copied = files_below(tmp_path / "copy")
    assert copied["train.py"].decode().endswith(NEW)
    assert b'if device.type in ("cuda", "npu"):' in copied["train.py"]
    assert b'if device.type in ("cuda", "npu"):' in copied["same.py"]
    changes = msgspec.json.decode((run.folder / "artifacts" / "changes.json").read_bytes(), type=Plan)
    assert changes.changed == ("train.py",)


def test_that_nothing_counts_as_changed_where_nobody_says_what_was_seen(tmp_path: Path) -> None:
    plan = plan_project(project(tmp_path, train__py=TRAIN), "minimal")
    assert files_changed_since(plan, Decisions()) == ()
    assert files_changed_since(plan, Decisions(digests={"gone.py": "x"})) == ("gone.py", "train.py")
