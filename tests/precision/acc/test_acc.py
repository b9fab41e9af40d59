"""The operator in doubt by itself: refused without a card, and what msprobe says of it where there is one. msprobe on a
card is acted here: no host of ours has one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.acc import work
from backends.precision.acc.result import AccResult, acc_answer, read_acc_result
from backends.precision.acc.spec import AccSpec
from backends.precision.msprobe import acc_check
from backends.precision.msprobe.acc_check import Accuracy
from backends.precision.msprobe.installed import Installed
from studio import run as runs
from studio import schema, texts
from studio.errors import StudioError
from tests.command_line import studio
from tests.precision.signoff.made import compared, perturb

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.run import Run

CALL = "Functional.linear.0.forward"
TABLE = "API name,Forward Test Success,Backward Test Success,Message\\n"
COMPARED = "API Name,Forward Test Success,Backward Test Success,Message\\n"
SCRIPT = f"""
out="${{@: -1}}"
case "$3" in
acc_check)
  printf '{TABLE}Functional.linear.0,VERDICT,SKIP,too far\\n' > "$out/accuracy_checking_result_1.csv"
  printf 'here\\n' > "$out/accuracy_checking_details_1.csv" ;;
api_precision_compare)
  [ "$(cat "$5")" = here ] && [ "$(cat "$7")" = there ] || exit 9
  printf '{COMPARED}Functional.linear.0,error,pass,worse than the GPU\\n' > "$out/api_precision_compare_result_1.csv" ;;
esac
"""


@pytest.fixture
def comparison(tmp_path: Path) -> Run:
    return compared(tmp_path, "torch_statistics", perturb(CALL))


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dev" / "davinci0").mkdir(parents=True)
    monkeypatch.setattr(acc_check, "ACC_DEVICES", tmp_path / "dev")


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch, interpreter: Callable[[str], Path]) -> Callable[[str], Path]:
    """An interpreter whose msprobe finds this."""

    def make(verdict: str) -> Path:
        made = interpreter(SCRIPT.replace("VERDICT", verdict))
        known = Installed(version="26.2.0", family="26", path=Path("/x"), python=made)
        monkeypatch.setattr(acc_check, "version_of", lambda _: known)
        return made

    return make


def spec_of(run: Run, **values: Any) -> AccSpec:
    spec = schema.with_value(AccSpec(), "comparison", run.folder)
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    return spec


def checked(folder: Path, spec: AccSpec) -> tuple[int, AccResult, Run]:
    run = runs.create(folder / "runs", "acc-check", schema.to_json(spec))
    ended = work.acc_check(spec, run)
    result = read_acc_result(run)
    assert result is not None
    return ended.code, result, run


def test_that_without_a_card_nothing_starts_and_it_is_said_why(tmp_path: Path, comparison: Run) -> None:
    done = studio("--no-project", "acc-check", str(comparison.folder), cwd=tmp_path)
    assert done.returncode == 2
    assert "this host has neither" in done.stderr
    assert not list((tmp_path / "home" / "state").rglob("*acc-check*"))


@pytest.mark.usefixtures("card")
def test_that_a_kind_of_card_that_is_not_here_is_refused(tmp_path: Path, comparison: Run) -> None:
    assert not schema.problems(spec_of(comparison))
    (wrong,) = schema.problems(spec_of(comparison, device="gpu"))
    assert texts.t(wrong.rule, **wrong.args) == "This host has no GPU."
    (wrong,) = schema.problems(spec_of(comparison, against=tmp_path))
    assert wrong.rule == "precision.acc.no_details"


@pytest.mark.usefixtures("card")
def test_that_the_first_divergence_is_checked_and_the_answer_is_no_where_it_is_not_good_enough(
    tmp_path: Path, comparison: Run, python: Callable[[str], Path]
) -> None:
    code, result, run = checked(tmp_path, spec_of(comparison, check_python=python("error")))
    found = Accuracy(api="Functional.linear.0", forward="error", backward="SKIP", message="too far")
    assert (code, result) == (3, AccResult(call=CALL, device="npu", checked=(found,)))
    assert acc_answer(run)["checked"][0]["forward"] == "error"
    assert work.result_note(result).args["message"] == "too far"
    assert acc_check.details_in(run.folder) is not None
    code, result, _ = checked(tmp_path, spec_of(comparison, check_python=python("pass")))
    assert (code, result.worst) == (0, None)


@pytest.mark.usefixtures("card")
def test_that_it_is_held_against_the_details_of_the_other_device(
    tmp_path: Path, comparison: Run, python: Callable[[str], Path]
) -> None:
    other = tmp_path / "gpu" / "artifacts" / "acc_check"
    other.mkdir(parents=True)
    (other / "accuracy_checking_details_0.csv").write_text("there\n")
    spec = spec_of(comparison, check_python=python("pass"), against=tmp_path / "gpu")
    code, result, _ = checked(tmp_path, spec)
    (found,) = result.compared
    assert (code, found.api, found.forward, found.backward) == (3, "Functional.linear.0", "error", "pass")
    assert work.result_note(result).args["message"] == "worse than the GPU"


@pytest.mark.usefixtures("card")
def test_that_a_module_is_refused_with_what_to_choose(
    tmp_path: Path, comparison: Run, python: Callable[[str], Path]
) -> None:
    from backends.precision.sides import open_comparison_run

    module = next(
        name
        for name in open_comparison_run(comparison.folder).names
        if name.startswith("Module.") and "forward" in name
    )
    with pytest.raises(StudioError, match="is a module"):
        checked(tmp_path, spec_of(comparison, call=module, check_python=python("pass")))


@pytest.mark.usefixtures("card")
def test_that_dumps_of_mindspore_are_refused(tmp_path: Path, python: Callable[[str], Path]) -> None:
    from backends.precision.sides import open_comparison_run

    run = compared(tmp_path / "ms", "mindspore_tensor")
    call = open_comparison_run(run.folder).names[0]
    with pytest.raises(StudioError, match="MindSpore dumps"):
        checked(tmp_path, spec_of(run, call=call, check_python=python("pass")))


def test_that_the_columns_of_the_second_table_are_those_of_the_installed_msprobe() -> None:
    from msprobe import __file__ as package  # type: ignore[import-untyped]

    text = (Path(package).parent / "pytorch/api_accuracy_checker/compare/compare_utils.py").read_text("utf-8")
    names = ("API Name", "Forward Test Success", "Backward Test Success", "Message")
    assert [name for name in names if f"'{name}'" not in text] == []
