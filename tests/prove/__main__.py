"""`python -m tests.prove [name …]`: runs the proofs and keeps their figures."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import time
from typing import TYPE_CHECKING

import tests.prove
from studio import files, paths

if TYPE_CHECKING:
    from pathlib import Path


def main() -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    names = [found.name for found in pkgutil.iter_modules(tests.prove.__path__) if found.name.startswith("of_")]
    chosen = [f"of_{name}" for name in sys.argv[1:]] or names
    if unknown := sorted(set(chosen) - set(names)):
        known = ", ".join(name[3:] for name in names)
        print(
            f"There is no proof {', '.join(name[3:] for name in unknown)}. There are: {known}.",
            file=sys.stderr,
        )
        return 2
    return 0 if all([_prove(name) for name in chosen]) else 1


def _prove(name: str) -> bool:
    print(f"… {name[3:]}", file=sys.stderr, flush=True)
    begun = time.monotonic()
    figures = importlib.import_module(f"tests.prove.{name}").prove()
    figures |= {"seconds": round(time.monotonic() - begun, 1), "time": time.strftime("%Y-%m-%d %H:%M:%S")}
    path = _kept(name[3:])
    files.write_json(path, figures)
    print(json.dumps(figures, ensure_ascii=False), path, sep="\n", flush=True)
    return bool(figures["passed"])


def _kept(name: str) -> Path:
    folder = paths.state_home() / "prove"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.json"


if __name__ == "__main__":
    sys.exit(main())
