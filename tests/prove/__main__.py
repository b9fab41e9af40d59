"""`python -m tests.prove [name …]`: runs the proofs and keeps their figures. Each module here is a proof; `support`
holds what they share."""

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
    modules = pkgutil.iter_modules(tests.prove.__path__)
    names = [module.name for module in modules if not module.ispkg and not module.name.startswith("_")]
    chosen = sys.argv[1:] or names
    if unknown := sorted(set(chosen) - set(names)):
        print(f"There is no proof {', '.join(unknown)}. There are: {', '.join(names)}.", file=sys.stderr)
        return 2
    return 0 if all([_prove(name) for name in chosen]) else 1


def _prove(name: str) -> bool:
    print(f"… {name}", file=sys.stderr, flush=True)
    begun = time.monotonic()
    figures = importlib.import_module(f"tests.prove.{name}").prove()
    figures |= {"seconds": round(time.monotonic() - begun, 1), "time": time.strftime("%Y-%m-%d %H:%M:%S")}
    path = _figures_path(name)
    files.write_json(path, figures)
    print(json.dumps(figures, ensure_ascii=False), path, sep="\n", flush=True)
    return bool(figures["passed"])


def _figures_path(name: str) -> Path:
    folder = paths.state_home() / "prove"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.json"


if __name__ == "__main__":
    sys.exit(main())
