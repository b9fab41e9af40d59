"""artifacts/sides.json: the names of the runs behind a comparison of both sides, which are siblings of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from studio import files

if TYPE_CHECKING:
    from studio.run import Run

RUNS_FILE = "artifacts/sides.json"


def write_names(run: Run, names: dict[str, str]) -> None:
    """`names`: of the runs golden, target and comparison, as far as there are any. Raises OSError."""
    files.write_json(run.folder / RUNS_FILE, names)


def read_names(run: Run) -> dict[str, str]:
    names = files.read_json(run.folder / RUNS_FILE)
    return {str(part): str(name) for part, name in names.items()} if isinstance(names, dict) else {}


def read_comparison_name(run: Run) -> str:
    """Return "" where it came to no comparison."""
    return read_names(run).get("comparison", "")


def sides_answer(run: Run) -> dict[str, Any]:
    """Return what `--json` adds: the folders of the three runs, as far as there are any."""
    return {part: str(run.folder.parent / name) for part, name in read_names(run).items()}
