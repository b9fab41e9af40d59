"""What stays the same finding in another scan, what is left out with a reason, and what it all comes to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.migration.export.report import findings_json
from backends.migration.scan.baseline import changes_since, read_findings
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.hours import estimate_hours
from backends.migration.scan.overview import file_heat, split_suppressed
from backends.migration.scan.suppressions import (
    file_in_project,
    file_in_state,
    read_suppressions,
    restore_findings,
    suppress_findings,
)
from backends.migration.scan.work import is_refused
from studio.errors import StudioError
from tests.migration.finding_examples import finding, overview

if TYPE_CHECKING:
    from pathlib import Path


def test_that_a_finding_is_the_same_when_lines_move() -> None:
    before = (finding(line=3), finding(line=9), finding(line=12, text="torch.cuda.seed()"))
    after = (finding(line=30), finding(line=31), finding(line=50, text="torch.cuda.seed( )"))
    assert fingerprints(before) == fingerprints(after)
    assert len(set(fingerprints(before))) == 3


def test_that_a_finding_in_another_file_or_of_another_rule_is_another() -> None:
    marks = fingerprints((finding(), finding(path="b.py"), finding(rule="cuda_api.other"), finding(text="x")))
    assert len(set(marks)) == 4


def test_that_a_later_scan_tells_what_is_done_and_what_is_new() -> None:
    before = (finding(line=1), finding(line=2), finding(line=3, text="gone"))
    now = (finding(line=5), finding(line=8, text="fresh"))
    found = changes_since(before, now)
    assert found.still == 1
    assert [one.line for one in found.done] == [2, 3]
    assert found.new == (fingerprints(now)[1],)


def test_that_findings_come_back_from_their_file(tmp_path: Path) -> None:
    found = (finding(), finding(cell=3, args={"index": "rank"}, support={"a2": "yes"}))
    (tmp_path / "f.json").write_bytes(findings_json(found))
    assert read_findings(tmp_path / "f.json") == found


@pytest.mark.parametrize("data", [b"", b"{}", b'[{"kind":"place"}]', b"\xff", b"[" * 100_000])
def test_that_a_file_that_is_no_findings_is_refused_with_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "f.json").write_bytes(data)
    with pytest.raises(StudioError) as refused:
        read_findings(tmp_path / "f.json")
    assert refused.value.key == "migration.rule.no_findings"


def test_that_a_reason_outside_the_project_writes_nothing_into_it(tmp_path: Path) -> None:
    suppress_findings(tmp_path, ["a", "b"], "never runs", in_project=False)
    assert read_suppressions(tmp_path) == {"a": "never runs", "b": "never runs"}
    assert not (tmp_path / ".ascend-studio").exists()
    assert file_in_state(tmp_path).is_file()


def test_that_a_reason_in_the_project_stays_out_of_commits_and_can_be_taken_back(tmp_path: Path) -> None:
    suppress_findings(tmp_path, ["a"], "test only", in_project=True)
    suppress_findings(tmp_path, ["b"], "elsewhere", in_project=False)
    assert (tmp_path / ".ascend-studio" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    restore_findings(tmp_path, ["a", "b"])
    assert read_suppressions(tmp_path) == {}


@pytest.mark.parametrize("text", ["", "[]", '{"suppressed": 3}', '{"suppressed": {"a": 3}}', "{"])
def test_that_a_damaged_file_of_reasons_says_nothing(tmp_path: Path, text: str) -> None:
    file_in_project(tmp_path).parent.mkdir()
    file_in_project(tmp_path).write_text(text, encoding="utf-8")
    assert read_suppressions(tmp_path) == {}


def test_that_what_is_suppressed_counts_nowhere() -> None:
    found = (finding(line=1, effort=5, state="manual"), finding(line=2, text="b", effort=5, state="manual"))
    left, gone = split_suppressed(found, {fingerprints(found)[0]: "why not", "unknown": "old"})
    assert [one.line for one in left] == [2]
    assert gone == {fingerprints(found)[0]: "why not"}


def test_that_further_places_of_a_rule_in_a_file_take_a_quarter() -> None:
    one = finding(state="manual", effort=5)
    assert estimate_hours((one,)) == (1.5, 4.0)
    assert estimate_hours((one, one, one)) == (2.25, 6.0)
    assert estimate_hours((one, finding(state="manual", effort=5, path="b.py"))) == (3.0, 8.0)


def test_that_the_unverified_may_cost_nothing_and_advice_is_not_counted() -> None:
    assert estimate_hours((finding(state="unverified", effort=3), finding(kind="advice", effort=13))) == (0.0, 1.5)


EFFORTS = st.sampled_from([0, 1, 3, 5, 7, 13])


@given(
    st.lists(st.tuples(EFFORTS, st.sampled_from("ab"), st.sampled_from(["manual", "edit", "unverified"])), max_size=9)
)
def test_that_more_places_never_take_fewer_hours(made: list[tuple[int, str, str]]) -> None:
    found = [finding(effort=effort, path=path, state=state) for effort, path, state in made]
    for count in range(len(found)):
        (low, high), (more_low, more_high) = estimate_hours(found[:count]), estimate_hours(found[: count + 1])
        assert low <= more_low
        assert high <= more_high
        assert more_low <= more_high


def test_that_the_hottest_file_comes_first() -> None:
    found = (finding(), finding(path="b.py", effort=7, state="manual"), finding(path="b.py", kind="advice"))
    assert [(one.path, one.effort, one.lines, one.advice) for one in file_heat(found, {"b.py": 40})] == [
        ("b.py", 7, 40, 1),
        ("train.py", 0, 0, 0),
    ]


@pytest.mark.parametrize(
    ("state", "refusing"),
    [
        ("auto", set()),
        ("edit", {"edit"}),
        ("unverified", {"edit", "unverified"}),
        ("manual", {"edit", "unverified", "manual"}),
        ("none", {"edit", "unverified", "manual", "none"}),
    ],
)
def test_that_the_answer_is_no_from_the_state_on_that_was_asked(state: str, refusing: set[str]) -> None:
    found = (finding(), finding(state=state, text="x"))
    states = ("never", "edit", "unverified", "manual", "none")
    assert {one for one in states if is_refused(one, found, overview(*found))} == refusing


def test_that_advice_and_what_is_suppressed_or_old_refuse_nothing() -> None:
    found = (finding(state="manual"), finding(kind="advice", state="manual"))
    mark = fingerprints(found)[0]
    assert not is_refused("manual", found, overview(*found, suppressed={mark: "known"}))
    assert not is_refused("manual", found, overview(*found, since=changes_since(found, found)))
    assert is_refused("manual", found, overview(*found, since=changes_since((), found)))


def test_that_findings_are_a_list_of_objects_with_what_was_promised() -> None:
    (one,) = json.loads(findings_json((finding(),)))
    assert {"kind", "path", "line", "end", "category", "rule", "state", "effort", "text"} <= one.keys()
    assert json.loads(findings_json(())) == []
