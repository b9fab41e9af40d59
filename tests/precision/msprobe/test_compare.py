"""msprobe's tools in their own processes: what they find, and that nothing of ours depends on it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from backends.precision.compare.comparison import ERROR, PASS
from backends.precision.msprobe import acc_check, compare, overflow, process
from backends.precision.msprobe.installed import Installed
from studio.errors import StudioError
from tests.precision.msprobe.recorded import RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable

PYTHON = Path(sys.executable)


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_that_msprobe_compares_dumps_of_any_path_and_writes_nothing_beside_them(tmp_path: Path) -> None:
    target, golden = tmp_path / "调试 侧" / "step0" / "rank0", tmp_path / "golden"
    shutil.copytree(RECORDED / "target" / "step0" / "rank0", target)
    shutil.copytree(RECORDED / "golden" / "step0" / "rank0", golden)
    before = snapshot(target), snapshot(golden)
    found = compare.run_compare(target, golden, tmp_path / "结果", PYTHON)
    assert (found.problem, len(found.rows)) == ("", 80)
    assert found.version.startswith("26")
    assert found.first is not None
    assert (found.first.target, found.first.result) == ("Functional.linear.0.forward.output.0", ERROR)
    assert found.results["Functional.layer_norm.0.forward.output.0"] == PASS
    assert found.table is not None
    assert found.table.parent == tmp_path / "结果"
    assert (snapshot(target), snapshot(golden)) == before


def test_that_a_comparison_goes_on_without_an_msprobe(tmp_path: Path, interpreter: Callable[[str], Path]) -> None:
    folder = RECORDED / "target" / "step0" / "rank0"
    found = compare.run_compare(folder, folder, tmp_path, interpreter("exit 0"))
    assert (found.problem, found.rows, found.results) == ("precision.msprobe.missing", (), {})


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch, interpreter: Callable[[str], Path]) -> Callable[..., Path]:
    """An interpreter whose msprobe does what a test says."""

    def make(script: str, version: str = "26.2.0") -> Path:
        python = interpreter(script)
        known = Installed(version=version, family="26" if version[0] == "2" else "8", path=Path("/x"), python=python)
        for module in (compare, overflow, acc_check):
            monkeypatch.setattr(module, "version_of", lambda _: known)
        return python

    return make


def test_that_an_msprobe_that_fails_is_quoted_and_its_warning_about_cann_is_not(
    tmp_path: Path, pretended: Callable[..., Path]
) -> None:
    python = pretended(
        'echo "2026 [ERROR] Please verify that the CANN environment is properly configured."\n'
        'echo "x.exceptions.CompareException: 无效文件" >&2\nexit 1'
    )
    folder = RECORDED / "target" / "step0" / "rank0"
    found = compare.run_compare(folder, folder, tmp_path, python)
    assert found.problem == "precision.msprobe.failed"
    assert found.args["reason"] == "x.exceptions.CompareException: 无效文件"


def test_that_an_msprobe_that_says_nothing_wrong_and_leaves_no_table_has_failed(
    tmp_path: Path, pretended: Callable[..., Path]
) -> None:
    folder = RECORDED / "target" / "step0" / "rank0"
    python = pretended('echo "[ERROR] Please verify that the CANN environment is properly configured."')
    found = compare.run_compare(folder, folder, tmp_path, python)
    assert (found.problem, found.args["reason"]) == ("precision.msprobe.failed", "exit 0")


def test_that_an_msprobe_that_hangs_is_ended_with_all_it_started(
    tmp_path: Path, pretended: Callable[..., Path]
) -> None:
    marker = tmp_path / "alive"
    python = pretended(f'(while true; do date +%N > "{marker}"; sleep 0.02; done) & wait')
    folder = RECORDED / "target" / "step0" / "rank0"
    found = compare.run_compare(folder, folder, tmp_path, python, seconds=0.5)
    assert found.problem == "precision.msprobe.late"
    written = marker.read_text()
    process.run(("sleep", "0.2"), tmp_path, tmp_path / "log", 5)
    assert marker.read_text() == written


def test_that_an_old_msprobe_is_given_its_file_and_its_workbook_is_read(
    tmp_path: Path, pretended: Callable[..., Path]
) -> None:
    script = f"""
[ "$1 $2 $3 $4 $5 $6" = "-m msprobe.msprobe -f pytorch compare -i" ] || exit 9
grep -q npu_path "$7" || exit 8
cp "{RECORDED}/compare_8.3.3.xlsx" "$9/compare_result_20261122102536.xlsx"
"""
    folder = RECORDED / "target" / "step0" / "rank0"
    found = compare.run_compare(folder, folder, tmp_path, pretended(script, "8.3.3"))
    assert (found.problem, len(found.rows), found.version) == ("", 80, "8.3.3")


def test_that_an_msprobe_that_would_run_what_a_tensor_holds_is_not_given_tensors(
    tmp_path: Path, pretended: Callable[..., Path]
) -> None:
    shutil.copytree(RECORDED / "target" / "step0" / "rank0", tmp_path / "dump")
    python = pretended("touch ran", "1.0.4")
    (tmp_path / "dump" / "dump_tensor_data").mkdir()
    found = compare.run_compare(tmp_path / "dump", tmp_path / "dump", tmp_path, python)
    assert (found.problem, found.args) == ("precision.msprobe.unsafe", {"version": "1.0.4"})
    assert not list(tmp_path.rglob("ran"))


def test_that_tensors_under_a_path_that_msprobe_refuses_are_said_to_be(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "target" / "step0" / "rank0", tmp_path / "中文")
    (tmp_path / "中文" / "dump_tensor_data").mkdir()
    found = compare.run_compare(tmp_path / "中文", tmp_path / "中文", tmp_path, PYTHON)
    assert found.problem == "precision.msprobe.path"


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("Traceback (most recent call last):\n  File\nValueError: no\n", "ValueError: no"),
        ("a [INFO] b\n2026 (1) [ERROR] first\n2026 (1) [ERROR] second\n", "second"),
        ("[ERROR] Please verify that the CANN environment is properly configured.\n", ""),
        ("", ""),
    ],
)
def test_that_the_reason_in_a_log_is_its_last_complaint(log: str, reason: str) -> None:
    assert process.reason_in(log) == reason


# Its overflow check, and a suspect alone


def test_that_the_overflow_check_names_the_call_that_made_the_first_nan(tmp_path: Path) -> None:
    ranks = [(3, RECORDED / "overflowed" / "step0" / "rank0")]
    found = overflow.run_overflow_check(ranks, tmp_path, PYTHON)
    assert found.problem == ""
    (anomaly,) = found.anomalies
    assert (anomaly.rank, anomaly.call) == (3, "Functional.layer_norm.0.forward")
    assert anomaly.modules == ("Module.1.TransformerEncoderLayer.forward.0", "Module.1.norm1.LayerNorm.forward.0")
    assert "normalization.py" in anomaly.stack[0]


def test_that_a_dump_without_anomalies_has_none(tmp_path: Path, pretended: Callable[..., Path]) -> None:
    ranks = [(0, RECORDED / "target" / "step0" / "rank0")]
    assert overflow.run_overflow_check(ranks, tmp_path, pretended("echo no anomaly")) == overflow.OverflowCheck()
    failed = overflow.run_overflow_check(ranks, tmp_path, pretended("echo 'OSError: x: y'; exit 1"))
    assert (failed.problem, failed.args) == ("precision.msprobe.failed", {"reason": "OSError: x: y"})


def test_that_the_old_name_of_the_check_wrote_the_same_file() -> None:
    found = overflow.read_anomalies(RECORDED / "anomaly_analyze_8.3.3.json")
    assert [one.call for one in found] == ["Functional.layer_norm.0.forward"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"rank_0": 1, "rank_x": [3, {"stack_info": {}}]}'])
def test_that_a_damaged_result_of_the_check_is_no_crash(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    said, found = "", ()
    try:
        found = overflow.read_anomalies(tmp_path / "x.json")
    except StudioError as error:
        said = str(error)
    assert "x.json" in said or all(one.call == "" for one in found)


def test_that_a_suspect_is_not_run_where_there_is_no_card(tmp_path: Path) -> None:
    dump = RECORDED / "target" / "step0" / "rank0"
    with pytest.raises(StudioError, match="this host has neither"):
        acc_check.run_acc_check(dump, "Functional.linear.0.forward", tmp_path, PYTHON, devices=tmp_path)


def test_that_a_suspect_is_run_alone_where_there_is_one(tmp_path: Path, pretended: Callable[..., Path]) -> None:
    (tmp_path / "dev" / "davinci0").mkdir(parents=True)
    kept = tmp_path / "seen.json"
    table = "API name,Forward Test Success,Backward Test Success,Message\\nFunctional.linear.0,error,SKIP,too far\\n"
    script = f"""
[ "$3 $4" = "acc_check -api_info" ] || exit 9
cp "$5" "{kept}"
printf '{table}' > "$7/accuracy_checking_result_20261122102536.csv"
printf 'x\\n' > "$7/accuracy_checking_details_20261122102536.csv"
"""
    dump = RECORDED / "target" / "step0" / "rank0"
    call = "Functional.linear.0.forward"
    found = acc_check.run_acc_check(dump, call, tmp_path / "out", pretended(script), devices=tmp_path / "dev")
    assert found == (
        acc_check.Accuracy(api="Functional.linear.0", forward="error", backward="SKIP", message="too far"),
    )
    info = compare.files.read_json(kept)
    assert (info["framework"], list(info["data"])) == ("pytorch", [call])
    assert len(list((tmp_path / "out").glob("*.csv"))) == 2


def test_that_the_columns_of_its_result_are_those_of_the_installed_msprobe() -> None:
    from msprobe import __file__ as package  # type: ignore[import-untyped]

    text = (Path(package).parent / "pytorch/api_accuracy_checker/compare/compare.py").read_text("utf-8")
    names = ("API name", "Forward Test Success", "Backward Test Success", "Message")
    assert [name for name in names if f'"{name}"' not in text] == []
