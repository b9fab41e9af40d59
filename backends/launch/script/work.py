"""As script, in the worker: writes the file and tells where it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.script.script import FILE, script
from studio import files
from studio.errors import StudioError, from_os
from studio.events import Artifact, Ended, Finding, Journal, Note

if TYPE_CHECKING:
    from backends.launch.script.spec import ScriptSpec
    from studio.run import Run


def as_script(spec: ScriptSpec, run: Run) -> Ended:
    """Leaves artifacts/train.py, and the same as `out` where one is named."""
    journal = Journal(run.folder, 1)
    kept = run.folder / "artifacts" / FILE
    asked = kept if spec.output.out == Path() else spec.output.out
    try:
        text = script(spec).encode()
        kept.parent.mkdir(exist_ok=True)
        for path in dict.fromkeys((kept, asked)):
            write(path, text)
    except StudioError as error:
        journal.write(Finding(rule=error.key, severity="error", args=error.values))
        return Ended(code=1)
    told = Note(key="launch.script_written", args={"file": str(asked), "lines": text.count(b"\n")})
    journal.write(Artifact(kind="script", path=f"artifacts/{FILE}"), told)
    return Ended(code=0)


def write(path: Path, text: bytes) -> None:
    """Raises StudioError."""
    try:
        files.write_whole(path, text)
    except OSError as error:
        raise from_os(error, path) from error
