"""The command lines of msprobe, old and new. Options of 26.x: its `-h`; of 1.x and 8.x: their sources in the wheels
(msprobe/core/compare/utils.py, visualization/graph_service.py, nan_analyze/analyzer.py). tests/precision/msprobe holds
them against both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.msprobe.installed import Installed

MsprobeFramework = Literal["torch", "mindspore"]
_FRAMEWORK_OPTION = {"torch": "pytorch", "mindspore": "mindspore"}
_FORMER = {"overflow_check": "nan_analyze", "acc_check": "run_ut"}
"""What 8.x called them. 1.x has no config_check and no nan_analyze."""


def _line(installed: Installed, framework: str, command: str, *options: str) -> tuple[str, ...]:
    """Run as a module: the script `msprobe` may be missing, or of another environment on PATH."""
    module = (str(installed.python), "-m", "msprobe.msprobe")
    if installed.family == "26":
        return (*module, command, *options)
    return (*module, "-f", _FRAMEWORK_OPTION[framework], _FORMER.get(command, command), *options)


def compare_line(
    installed: Installed, framework: MsprobeFramework, target: Path, golden: Path, out: Path
) -> tuple[str, ...]:
    """Two dump.json. An old msprobe takes them from a file: `compare_input`, to be written as out/compare.json."""
    if installed.family == "26":
        return _line(installed, framework, "compare", "-tp", str(target), "-gp", str(golden), "-o", str(out))
    return _line(installed, framework, "compare", "-i", str(out / "compare.json"), "-o", str(out), "-s")


def compare_input(target: Path, golden: Path) -> dict[str, object]:
    """compare.json of 1.x and 8.x."""
    stack = str(target.with_name("stack.json"))
    return {"npu_path": str(target), "bench_path": str(golden), "stack_path": stack, "is_print_compare_log": False}


def overflow_line(installed: Installed, step: Path, out: Path) -> tuple[str, ...]:
    """`step`: the folder that holds the ranks' folders. It reads dumps of torch alone."""
    return _line(installed, "torch", "overflow_check", "-i", str(step), "-o", str(out))


def config_check_line(installed: Installed, golden: Path, target: Path, out: Path) -> tuple[str, ...]:
    """Two packs, as zip files."""
    return _line(installed, "torch", "config_check", "-c", str(golden), str(target), "-o", str(out))


def acc_check_line(installed: Installed, api_info: Path, out: Path) -> tuple[str, ...]:
    """Runs each API of a dump.json on the device and on the CPU: wants an NPU or a GPU."""
    return _line(installed, "torch", "acc_check", "-api_info", str(api_info), "-o", str(out))


def api_precision_compare_line(installed: Installed, npu: Path, gpu: Path, out: Path) -> tuple[str, ...]:
    """Two accuracy_checking_details_….csv of acc_check, of an NPU and of a GPU."""
    return _line(installed, "torch", "api_precision_compare", "-npu", str(npu), "-gpu", str(gpu), "-o", str(out))
