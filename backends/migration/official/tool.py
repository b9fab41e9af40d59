"""Where CANN keeps its analysis tool, and how it is called."""

from __future__ import annotations

import os
from pathlib import Path

from studio import environment

SCRIPT = "tools/ms_fmk_transplt/pytorch_analyse.sh"
# It asks on its standard input whether to go on where the folder for its answer exists or has another owner.
_ANSWERING = 'yes c | "$@"'


def find_tool() -> Path | None:
    """Of the CANN that this shell has set up, else where its installers put it (8.x and 9.x layouts)."""
    named = [os.environ.get(name, "") for name in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")]
    script = environment.cann_script(os.environ)
    roots = [*map(Path, filter(None, named)), *([script.parent, script.parent / "latest"] if script else [])]
    return next((path for root in roots if (path := root / SCRIPT).is_file()), None)


def line(tool: Path, project: Path, out: Path, version: str) -> tuple[str, ...]:
    """The names of its files and modules are arguments, never part of the shell's text."""
    asked = ("-i", str(project), "-o", str(out), "-v", version, "-m", "torch_apis")
    return ("/bin/sh", "-c", _ANSWERING, "sh", "/bin/bash", str(tool), *asked)
