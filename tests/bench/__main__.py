"""`python -m tests.bench [name …]`: prints the figures of all benchmarks, or of those named."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import tempfile

import tests.bench
from tests.bench.figure import table

NOT_BENCHES = ("__main__", "figure", "stage")


def main() -> int:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    found = (module.name for module in pkgutil.iter_modules(tests.bench.__path__))
    names = [name for name in found if name not in NOT_BENCHES]
    chosen = sys.argv[1:] or names
    if unknown := sorted(set(chosen) - set(names)):
        print(f"There is no benchmark {', '.join(unknown)}. There are: {', '.join(names)}.", file=sys.stderr)
        return 2
    figures = []
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "STATE", "CACHE")}
        for name in chosen:
            print(f"… {name}", file=sys.stderr, flush=True)
            figures += importlib.import_module(f"tests.bench.{name}").figures()
    print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
