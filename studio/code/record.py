"""What a run keeps of its code: code.json with commit, digests of source files and packages, and code.patch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import studio
from studio import files, interpreters, paths
from studio.code.digests import digest_of, digests_of
from studio.code.state import read_commit, read_state

if TYPE_CHECKING:
    from pathlib import Path


def keep_code_state(run_folder: Path, code: Path, python: Path, script: Path | None = None) -> None:
    """Write code.json and, for a dirty tree, code.patch. `script`: the program that is run, where a file; one outside
    of the folder `code` is kept by its name. Raises OSError."""
    state = read_state(code)
    if state.patch:
        files.write_whole(run_folder / "code.patch", state.patch, files.mode_in(run_folder))
    value: dict[str, Any] = {
        "folder": str(code), "commit": state.commit, "dirty": None if state.changed is None else bool(state.changed),
        "python": str(python), "studio": studio.__version__, "studio_commit": read_commit(paths.ROOT),
        "packages": interpreters.packages(python), "sources": _sources(code, script),
    }  # fmt: skip
    files.write_json(run_folder / "code.json", value)


def _sources(code: Path, script: Path | None) -> dict[str, str] | None:
    """Return digests of the source files; none of our own, whose version and commit are kept."""
    sources = {} if code == paths.ROOT else digests_of(code)
    if sources is None or script is None or script.resolve().is_relative_to(code.resolve()):
        return sources
    return {**sources, script.name: digest_of(script)}
