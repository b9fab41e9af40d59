"""`python -m tests.planted.msprobe_scores ORDERS`: msprobe's own compare of many pairs, in one process.

Of each pair the first row, in the order of its table, that is not "pass", of the first step and rank that has one.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

from msprobe import msprobe


def first_of(target: Path, golden: Path) -> dict[str, Any] | None:
    """Its verdict on two folders of dumps; None where every row passes. Raises where it fails."""
    targets = {_key(path): path for path in target.glob("step*/*/dump.json")}
    goldens = {_key(path): path for path in golden.glob("step*/*/dump.json")}
    for key in sorted(targets):
        row = _first_row(targets[key], goldens[key])
        if row is not None:
            return {"name": row["NPU Name"], "golden": row["Bench Name"], "step": key[0], "rank": key[1],
                    "result": row["Result"], "message": row["Err_message"][:200]}  # fmt: skip
    return None


def _key(path: Path) -> tuple[int, int]:
    rank = path.parent.name
    return int(path.parts[-3][4:]), int(rank[4:]) if rank.startswith("rank") else 0


def _first_row(target: Path, golden: Path) -> dict[str, str] | None:
    with tempfile.TemporaryDirectory() as out:
        sys.argv = ["msprobe", "compare", "-tp", str(target), "-gp", str(golden), "-o", out]
        try:
            msprobe.main()
        except SystemExit as ended:
            if ended.code:
                raise RuntimeError(f"msprobe ended with {ended.code}") from ended
        (table,) = Path(out).glob("*.csv")
        with table.open(encoding="utf-8", newline="") as file:
            return next((row for row in csv.DictReader(file) if row["Result"] != "pass"), None)


def main() -> int:
    csv.field_size_limit(1 << 24)
    for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
        order = json.loads(line)
        try:
            answer: Any = {"first": first_of(Path(order["target"]), Path(order["golden"]))}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
        with Path(order["answers"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"pair": order["pair"], **answer}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
