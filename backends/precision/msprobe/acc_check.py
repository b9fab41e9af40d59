"""A suspect alone: msprobe runs one API with the inputs that a dump describes, on the device and in higher precision
on the CPU, and says whether the device's result is good enough. Wants an NPU or a GPU: here only its refusal was run.

Columns: msprobe/pytorch/api_accuracy_checker/compare/compare.py of 26.2, held against it by tests/precision/msprobe.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.msprobe import process
from backends.precision.msprobe.installed import version_of
from backends.precision.msprobe.lines import acc_check_line, api_precision_compare_line
from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator

RESULTS = "accuracy_checking_result_*.csv"
DETAILS = "accuracy_checking_details_*.csv"
COMPARED = "api_precision_compare_result_*.csv"
NODES = {"npu": "davinci[0-9]*", "gpu": "nvidia[0-9]*"}
ACC_DEVICES = Path("/dev")
MAX_DETAILS_BYTES = 2_000_000_000


class Accuracy(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts on one API: `forward` and `backward` as msprobe says it (pass, error, SKIP …), `message` in its
    words."""

    api: str
    forward: str
    backward: str
    message: str


def npu_devices(devices: Path | None = None) -> tuple[str, ...]:
    """ "npu" and "gpu", as far as this host has one; by their device files, so nothing waits."""
    folder = ACC_DEVICES if devices is None else devices
    return tuple(kind for kind, pattern in NODES.items() if any(True for _ in folder.glob(pattern)))


def details_in(folder: Path) -> Path | None:
    """The details table of an acc_check: in a folder, or in a run's."""
    below = (folder, folder / "artifacts" / "acc_check")
    tables = [path for parent in below for path in sorted(parent.glob(DETAILS), reverse=True)]
    return tables[0] if tables else None


def run_acc_check(
    dump: Path, call: str, scratch: Path, python: Path, devices: Path | None = None,
    seconds: float = process.PROCESS_SECONDS,
) -> tuple[Accuracy, ...]:  # fmt: skip
    """`dump`: the folder with dump.json; `call`: a forward or a backward of it; `scratch`: a folder for msprobe's two
    tables. Raises StudioError, also on a CPU, and Stopped."""
    if not npu_devices(devices):
        raise StudioError("precision.msprobe.no_device")
    with process.workplace() as workplace:
        info = workplace / "dump.json"
        files.write_json(info, api_info(dump, call))
        out = _run(acc_check_line(version_of(python), info, workplace / "out"), workplace, scratch, python, seconds)
        _take(out, DETAILS, scratch)
        return tuple(read_accuracy(_take(out, RESULTS, scratch)))


def compare_devices(npu: Path, gpu: Path, scratch: Path, python: Path, seconds: float = 600) -> Path:
    """Two details tables of `check`, one of each device; the table that says what differs. Raises StudioError and
    Stopped."""
    with process.workplace() as workplace:
        for name, path in (("npu.csv", npu), ("gpu.csv", gpu)):
            shutil.copyfile(path, workplace / name)
        line = api_precision_compare_line(
            version_of(python), workplace / "npu.csv", workplace / "gpu.csv", workplace / "out"
        )
        return _take(_run(line, workplace, scratch, python, seconds), COMPARED, scratch)


def api_info(dump: Path, call: str) -> dict[str, Any]:
    """dump.json with this API's calls alone. Raises StudioError where it has none."""
    path = dump / "dump.json"
    try:
        if path.stat().st_size > MAX_DETAILS_BYTES:
            raise StudioError("precision.msprobe.table_too_large", place=str(path), limit=MAX_DETAILS_BYTES // 10**9)
        whole = json.loads(path.read_bytes())
    except OSError as error:
        raise from_os(error, path) from error
    except (ValueError, RecursionError) as error:
        raise StudioError("precision.msprobe.no_table", place=str(path), reason=str(error)[:200]) from error
    data = whole.get("data") if isinstance(whole, dict) else None
    stem = call.removesuffix(".forward").removesuffix(".backward")
    names = (f"{stem}.forward", f"{stem}.backward")
    figures = {name: _finite(data[name]) for name in names if isinstance(data, dict) and name in data}
    if not figures:
        raise StudioError("precision.msprobe.no_node", place=str(path), node=call[:200])
    return {**whole, "data": figures}


def _finite(value: Any) -> Any:
    """msprobe makes random inputs between Min and Max; JSON as we write it has no NaN, so null stands for one."""
    if isinstance(value, dict):
        return {key: _finite(element) for key, element in value.items()}
    if isinstance(value, list):
        return [_finite(element) for element in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))) else value


def _run(line: tuple[str, ...], workplace: Path, scratch: Path, python: Path, seconds: float) -> Path:
    if version_of(python).family != "26":
        raise StudioError("precision.msprobe.missing", python=str(python))
    scratch.mkdir(parents=True, exist_ok=True)
    (workplace / "out").mkdir()
    done = process.run(line, workplace, scratch / "acc_check.log", seconds)
    if done.late:
        raise StudioError("precision.msprobe.late", minutes=round(seconds / 60, 1))
    if done.code:
        raise StudioError("precision.msprobe.failed", reason=done.reason or f"exit {done.code}")
    return workplace / "out"


def _take(out: Path, pattern: str, scratch: Path) -> Path:
    figures = next(iter(sorted(out.glob(pattern))), None)
    if figures is None:
        raise StudioError("precision.msprobe.failed", reason=pattern)
    return Path(shutil.move(figures, scratch / figures.name))


def read_accuracy(path: Path) -> Iterator[Accuracy]:
    """Read the table of acc_check ("API name") or of api_precision_compare ("API Name"). Raises StudioError."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            for row in csv.DictReader(file):
                yield Accuracy(
                    api=_cell(row, "API name") or _cell(row, "API Name"), forward=_cell(row, "Forward Test Success"),
                    backward=_cell(row, "Backward Test Success"), message=_cell(row, "Message"),
                )  # fmt: skip
    except OSError as error:
        raise from_os(error, path) from error
    except csv.Error as error:
        raise StudioError("precision.msprobe.no_table", place=str(path), reason=str(error)[:200]) from error


def _cell(row: dict[str, Any], name: str) -> str:
    return str(row.get(name) or "")
