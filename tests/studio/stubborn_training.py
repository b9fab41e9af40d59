"""A training that does all it can to survive a stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Make = Callable[[str], Path]

EVIL = """
trap '' TERM
( trap '' TERM; setsid bash -c "trap '' TERM; while :; do sleep 1; done" & ) &
python3 - <<'P' &
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True: time.sleep(1)
P
env -i setsid sleep 1000 &
touch ready
while :; do sleep 0.2; done
"""
