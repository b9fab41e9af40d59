"""What the program relies on in torch_npu, in each release line from 2.1 to the newest on the package index."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.contract.torch_npu_facts import facts, release

FIRST = (2, 1)


def prove() -> dict[str, Any]:
    lacking: dict[str, list[str]] = {}
    for version in newest_of_each_line():
        with tempfile.TemporaryDirectory() as folder:
            words = ("pip", "download", "--no-deps", "--only-binary", ":all:", "-q", "-d", folder)
            done = subprocess.run(
                [sys.executable, "-m", *words, f"torch_npu=={version}"], capture_output=True, timeout=600, check=False
            )
            for wheel in Path(folder).glob("*.whl"):
                lacking[release(wheel)] = [name for name, is_there in facts(wheel).items() if not is_there]
            if done.returncode:
                lacking[version] = ["no wheel for this Python"]
    return {"passed": bool(lacking) and not any(lacking.values()), "releases": list(lacking), "lacking": lacking}


def newest_of_each_line() -> list[str]:
    """Return the newest release of each line (2.1, 2.3, …) that the index has."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "index", "versions", "torch-npu"], capture_output=True, text=True, timeout=120,
        check=True,
    )  # fmt: skip
    listed = re.search(r"Available versions: (.*)", done.stdout)
    versions = [] if listed is None else [word.strip() for word in listed[1].split(",")]
    newest: dict[tuple[int, ...], str] = {}
    for version in versions:  # the newest comes first
        line = tuple(int(number) for number in version.split(".")[:2])
        if line >= FIRST:
            newest.setdefault(line, version)
    return [newest[line] for line in sorted(newest)]
