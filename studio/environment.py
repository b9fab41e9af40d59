"""The environment of a child: what a shell would give it, without the studio's own variables, and with CANN's set-up
where there is one.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_OURS = re.compile(r"(ASCEND_STUDIO_.*|QT_.*|QML.*|PYQTGRAPH_.*|VIRTUAL_ENV(_PROMPT)?|PYTHONHOME|PYTHONSTARTUP)")
_SECRET = re.compile(
    r"(^|_)(TOKEN|SECRET|PASSWORD|PASSPHRASE|PASSWD|PASS|PW|PWD|CREDENTIALS?|AUTH|BEARER|COOKIE|SIG|SIGNATURE|AK|SK"
    r"|(API|ACCESS|PRIVATE|SECRET|AUTH|ENCRYPTION|SIGNING|WANDB|SWANLAB|HF|OPENAI|AWS|OBS|S3)_?KEY)(_|$)"
    r"|密码|口令|密钥|令牌",
    re.IGNORECASE,
)
_SHELLS_OWN = ("PWD", "OLDPWD")


def is_secret(name: str) -> bool:
    """Return whether a variable of this name is likely to hold a secret: its value is never written down."""
    return bool(_SECRET.search(name)) and name not in _SHELLS_OWN


def cleaned(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the studio's and Qt's variables, which would change what the child's own Qt or
    Python does.
    """
    return {name: value for name, value in environ.items() if not _OURS.fullmatch(name)}


def cann_script(environ: Mapping[str, str]) -> Path | None:
    """Return CANN's set_env.sh: of the named toolkit, else where the installers put it (layouts of 8.x and 9.x)."""
    named = environ.get("ASCEND_TOOLKIT_HOME", "")
    roots = [Path(named).parent, Path(named)] if named else []
    for base in (Path("/usr/local/Ascend"), Path.home() / "Ascend"):
        roots += [base / "cann", base / "ascend-toolkit"]
    return next((path for root in roots if (path := root / "set_env.sh").is_file()), None)


def with_cann(environ: Mapping[str, str], seconds: float = 20) -> dict[str, str]:
    """Return the environment after CANN's set_env.sh; unchanged where there is none, it fails or takes too long."""
    script = cann_script(environ)
    if script is None:
        return dict(environ)
    line = 'source "$1" >/dev/null 2>&1; exec env -0'
    try:
        done = subprocess.run(
            ["bash", "-c", line, "bash", str(script)], env=dict(environ), stdin=subprocess.DEVNULL,
            capture_output=True, timeout=seconds, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return dict(environ)
    pairs = (os.fsdecode(entry).partition("=") for entry in done.stdout.split(b"\0") if entry)
    return {name: value for name, _, value in pairs if name != "_"}
