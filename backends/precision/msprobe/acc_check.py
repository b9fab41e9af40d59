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
DEVICES = Path("/dev")
LARGEST = 2_000_000_000


class Accuracy(msgspec.Struct, frozen=True, kw_only=True):
    """Of one API: `forward` and `backward` as msprobe says it (pass, error, SKIP …), `message` in its words."""

    api: str
    forward: str
    backward: str
    message: str


def cards(devices: Path | None = None) -> tuple[str, ...]:
    """ "npu" and "gpu", as far as this host has one; by their device files, so nothing waits."""
    folder = DEVICES if devices is None else devices
    return tuple(kind for kind, pattern in NODES.items() if any(True for _ in folder.glob(pattern)))


def details_in(folder: Path) -> Path | None:
    """The details table of an acc_check: in a folder, or in a run's."""
    below = (folder, folder / "artifacts" / "acc_check")
    found = [path for one in below for path in sorted(one.glob(DETAILS), reverse=True)]
    return found[0] if found else None


def check(
    dump: Path, call: str, scratch: Path, python: Path, devices: Path | None = None,
    seconds: float = process.SECONDS,
) -> tuple[Accuracy, ...]:  # fmt: skip
    """`dump`: the folder with dump.json; `call`: a forward or a backward of it; `scratch`: a folder for msprobe's two
    tables. Raises StudioError, also on a CPU, and process.Stopped."""
    if not cards(devices):
        raise StudioError("precision.msprobe.no_device")
    with process.workplace() as place:
        info = place / "dump.json"
        files.write_json(info, api_info(dump, call))
        out = _run(acc_check_line(version_of(python), info, place / "out"), place, scratch, python, seconds)
        _take(out, DETAILS, scratch)
        return tuple(read_accuracy(_take(out, RESULTS, scratch)))


def compare_devices(npu: Path, gpu: Path, scratch: Path, python: Path, seconds: float = 600) -> Path:
    """Two details tables of `check`, one of each device; the table that says what differs. Raises StudioError and
    process.Stopped."""
    with process.workplace() as place:
        for name, path in (("npu.csv", npu), ("gpu.csv", gpu)):
            shutil.copyfile(path, place / name)
        line = api_precision_compare_line(version_of(python), place / "npu.csv", place / "gpu.csv", place / "out")
        return _take(_run(line, place, scratch, python, seconds), COMPARED, scratch)


def api_info(dump: Path, call: str) -> dict[str, Any]:
    """dump.json with this API's calls alone. Raises StudioError where it has none."""
    path = dump / "dump.json"
    try:
        if path.stat().st_size > LARGEST:
            raise StudioError("precision.msprobe.table_too_large", place=str(path), limit=LARGEST // 10**9)
        whole = json.loads(path.read_bytes())
    except OSError as error:
        raise from_os(error, path) from error
    except (ValueError, RecursionError) as error:
        raise StudioError("precision.msprobe.no_table", place=str(path), reason=str(error)[:200]) from error
    data = whole.get("data") if isinstance(whole, dict) else None
    stem = call.removesuffix(".forward").removesuffix(".backward")
    names = (f"{stem}.forward", f"{stem}.backward")
    found = {name: _finite(data[name]) for name in names if isinstance(data, dict) and name in data}
    if not found:
        raise StudioError("precision.msprobe.no_node", place=str(path), node=call[:200])
    return {**whole, "data": found}


def _finite(value: Any) -> Any:
    """msprobe makes random inputs between Min and Max; JSON as we write it has no NaN, so null stands for one."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))) else value


def _run(line: tuple[str, ...], place: Path, scratch: Path, python: Path, seconds: float) -> Path:
    if version_of(python).family != "26":
        raise StudioError("precision.msprobe.missing", python=str(python))
    scratch.mkdir(parents=True, exist_ok=True)
    (place / "out").mkdir()
    done = process.run(line, place, scratch / "acc_check.log", seconds)
    if done.late:
        raise StudioError("precision.msprobe.late", minutes=round(seconds / 60, 1))
    if done.code:
        raise StudioError("precision.msprobe.failed", reason=done.reason or f"exit {done.code}")
    return place / "out"


def _take(out: Path, pattern: str, scratch: Path) -> Path:
    found = next(iter(sorted(out.glob(pattern))), None)
    if found is None:
        raise StudioError("precision.msprobe.failed", reason=pattern)
    return Path(shutil.move(found, scratch / found.name))


def read_accuracy(path: Path) -> Iterator[Accuracy]:
    """Of acc_check ("API name") or of api_precision_compare ("API Name"). Raises StudioError."""
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
