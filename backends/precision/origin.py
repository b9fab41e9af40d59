"""Where a dump is from: the run that it was captured in, and the versions that the run wrote down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("torch", "torch-npu", "mindspore", "mindstudio-probe", "numpy", "transformers", "accelerate")


@dataclass(frozen=True, kw_only=True)
class Origin:
    """`run`: the folder of the run, None for a dump from elsewhere; `versions`: by the names of packages; `commit`: of
    its code, `dirty` where that was changed since."""

    run: Path | None = None
    versions: dict[str, str] = field(default_factory=dict)
    commit: str = ""
    dirty: bool = False


def origin_of(dump: Path) -> Origin:
    """Whatever is missing or damaged stays empty."""
    folder = run_around(dump)
    if folder is None:
        return Origin()
    code = files.read_json(folder / "code.json")
    content: dict[str, Any] = code if isinstance(code, dict) else {}
    packages = content.get("packages")
    versions = {str(name): str(version) for name, version in packages.items()} if isinstance(packages, dict) else {}
    return Origin(
        run=folder, versions=versions, commit=str(content.get("commit") or ""), dirty=content.get("dirty") is True
    )


def run_around(dump: Path) -> Path | None:
    """A dump of ours lies at most six folders deep in its run."""
    for folder in (dump, *dump.parents[:6]):
        if (folder / "run.json").is_file():
            return folder
    return None


def is_own_capture(dump: Path) -> bool:
    """Return whether a dump is of a capture of the studio: of a run, or of a capture's folder that was copied alone,
    which has rank<r>.json beside its steps, or of one step with the record of the optimizer."""
    if run_around(dump) is not None or (dump / "optimizer.json").is_file():
        return True
    return any((folder / "rank0.json").is_file() for folder in dump.parents[:2])
