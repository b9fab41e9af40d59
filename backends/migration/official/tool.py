"""The location of CANN's analysis tool, and the command that runs it."""

from __future__ import annotations

import os
from pathlib import Path

from studio import environment

SCRIPT = "tools/ms_fmk_transplt/pytorch_analyse.sh"
# The tool asks on its standard input whether to continue where its output folder exists or has another owner.
_ANSWERING_SHELL = 'yes c | "$@"'


def find_tool() -> Path | None:
    """Find the tool in the CANN that this shell has set up, or where its installers put it (8.x and 9.x layouts)."""
    named = [os.environ.get(name, "") for name in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")]
    script = environment.cann_script(os.environ)
    roots = [*map(Path, filter(None, named)), *([script.parent, script.parent / "latest"] if script else [])]
    return next((path for root in roots if (path := root / SCRIPT).is_file()), None)


def tool_line(tool: Path, project: Path, out: Path, version: str) -> tuple[str, ...]:
    """Return the command. Names of files are arguments of the shell, never part of its text."""
    arguments = ("-i", str(project), "-o", str(out), "-v", version, "-m", "torch_apis")
    return ("/bin/sh", "-c", _ANSWERING_SHELL, "sh", "/bin/bash", str(tool), *arguments)
