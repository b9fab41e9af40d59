"""Differences between the packages of two sides, and the commands that make side B equal to side A."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.precision.config.result import CheckRow, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backends.precision.config.result import Level

PACKAGE_HEADER = ("package", "golden", "target", "why")
WHY = {
    "cann": "precision.config.pip_cann", "nvidia": "precision.config.pip_nvidia",
    "stays": "precision.config.pip_stays", "local": "precision.config.pip_local", "odd": "precision.config.pip_odd",
    "build": "precision.config.pip_build",
}  # fmt: skip
"""Values of the fourth cell of a row, and the sentence of each."""
PER_LINE = 12
# Those whose version can change a number: msprobe's own list (config_check/resource/dependency.yaml), and more.
TELLING = {
    "torch", "torch-npu", "mindspore", "numpy", "scipy", "transformers", "accelerate", "deepspeed", "megatron",
    "megatron-core", "mindspeed", "mindspeed-llm", "datasets", "peft", "tokenizers", "torchvision", "torchaudio",
    "timm", "diffusers", "apex", "flash-attn", "einops",
}  # fmt: skip
# Made for one kind of device: another host cannot have them.
NVIDIA = re.compile(
    r"(nvidia|cupy|cuda|pynvml|nccl|tensorrt)(-.*)?|triton|xformers|flash-attn|bitsandbytes|apex|vllm-flash-attn"
)
# Part of an installation of CANN; the package index has none of them.
OF_CANN = re.compile(
    r"te|topi|hccl|hccl-parser|auto-tune|opc-tool|dataflow|llm-datadist(-v1)?|schedule-search|op-gen|op-test-frame"
    r"|msobjdump|show-kernel-debug-data"
)
ASCEND = re.compile(rf"{OF_CANN.pattern}|(torch-npu|mindspeed|mindstudio|msprof|ascend|triton-ascend)(-.*)?")
PACKAGE_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,100}[A-Za-z0-9])?")
VERSION = re.compile(r"\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+([._-][a-z0-9]+)*)?", re.I)
NEVER_REMOVED = {"pip", "setuptools", "wheel"}
"""Without them the other commands would not run."""


def normal(name: str) -> str:
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def compare_packages(golden: Mapping[str, str], target: Mapping[str, str]) -> tuple[CheckRow, ...]:
    """A row for each package of either side; the fourth cell is a key of WHY, or empty."""
    sides = [{normal(name): version for name, version in side.items()} for side in (golden, target)]
    names = sorted({*sides[0], *sides[1]})
    return tuple(_row(name, *(side.get(name, "") for side in sides)) for name in names)


def _row(name: str, golden: str, target: str) -> CheckRow:
    return CheckRow(_level(name, golden, target), (name, golden, target, _why(name, golden, target)))


def _level(name: str, golden: str, target: str) -> Level:
    if golden == target:
        return "pass"
    is_bound = bool(NVIDIA.fullmatch(name) or ASCEND.fullmatch(name)) and "" in (golden, target)
    if name not in TELLING or is_bound or _public(golden) == _public(target):
        return "warning"
    return "error"


def _public(version: str) -> str:
    return version.partition("+")[0]


def _why(name: str, golden: str, target: str) -> str:
    """Why no command makes them equal: "" where one does, or nothing is to be done."""
    if golden == target:
        return ""
    if OF_CANN.fullmatch(name):
        return "cann"
    if not target and NVIDIA.fullmatch(name):
        return "nvidia"
    if not golden and (ASCEND.fullmatch(name) or name in NEVER_REMOVED):
        return "stays"
    if golden and _public(golden) == _public(target):
        return "local"
    if not PACKAGE_NAME.fullmatch(name) or (golden and not VERSION.fullmatch(golden)):
        return "odd"
    return "build" if "+" in golden else ""


def commands(rows: Iterable[CheckRow]) -> tuple[str, ...]:
    """For side B, in this order. Of a version with a local part, such as 2.6.0+cu124, the public one is asked for."""
    changes = [row.cells for row in rows if row.level != "pass" and row.cells[3] in ("", "build")]
    install = [f"{name}=={_public(golden)}" for name, golden, _, _ in changes if golden]
    extra = [name for name, golden, _, _ in changes if not golden]
    return (*_lines("pip install", install), *_lines("pip uninstall -y", extra))


def _lines(command: str, words: list[str]) -> list[str]:
    return [" ".join((command, *words[at : at + PER_LINE])) for at in range(0, len(words), PER_LINE)]


def left_over(rows: Iterable[CheckRow]) -> tuple[Sentence, ...]:
    """What the commands do not change, and why."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.level != "pass" and row.cells[3]:
            by_reason.setdefault(row.cells[3], []).append(row.cells[0])
    return tuple(
        Sentence(key=WHY[reason], args={"packages": ", ".join(names[:20]), "count": len(names)})
        for reason, names in sorted(by_reason.items())
    )
