"""As script, in the worker: writes the file and tells where it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.script.document import FILE, script_text
from studio import files
from studio.errors import StudioError, from_os
from studio.events import Artifact, Ended, Finding, Journal, Note

if TYPE_CHECKING:
    from backends.launch.script.spec import ScriptSpec
    from studio.run import Run


def as_script(spec: ScriptSpec, run: Run) -> Ended:
    """Leaves artifacts/train.py, and the same as `out` where one is named."""
    journal = Journal(run.folder, 1)
    artifact = run.folder / "artifacts" / FILE
    target = artifact if spec.output.out == Path() else spec.output.out
    try:
        text = script_text(spec).encode()
        artifact.parent.mkdir(exist_ok=True)
        for path in dict.fromkeys((artifact, target)):
            write_script(path, text)
    except StudioError as error:
        journal.write(Finding(rule=error.key, severity="error", args=error.values))
        return Ended(code=1)
    note = Note(key="launch.script_written", args={"file": str(target), "lines": text.count(b"\n")})
    journal.write(Artifact(kind="script", path=f"artifacts/{FILE}"), note)
    return Ended(code=0)


def write_script(path: Path, text: bytes) -> None:
    """Raises StudioError."""
    try:
        files.write_whole(path, text)
    except OSError as error:
        raise from_os(error, path) from error
