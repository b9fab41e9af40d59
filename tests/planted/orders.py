"""What both frameworks' dumps are made with: msprobe's settings, and the folders as separate processes leave them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def settings_of(order: dict[str, Any], out: Path) -> dict[str, Any]:
    task = order["task"]
    return {
        "task": "statistics" if task == "md5" else task, "dump_path": str(out), "rank": [], "step": [],
        "level": order["level"], "async_dump": False, "dump_enable": True,
        "statistics": {"scope": [], "list": [], "data_mode": ["all"],
                       "summary_mode": "md5" if task == "md5" else "statistics"},
        "tensor": {"scope": [], "list": [], "data_mode": ["all"]},
    }  # fmt: skip


def gather(making: Path, folder: Path, ranks: int) -> None:
    """stepN/rankR of all, as processes of their own would have left them; one alone keeps its procPID."""
    for rank in range(ranks):
        for dump_folder in sorted((making / f"of{rank}").glob("step*/proc*")):
            target = folder / dump_folder.parent.name / (f"rank{rank}" if ranks > 1 else dump_folder.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            dump_folder.rename(target)
    shutil.rmtree(making)
