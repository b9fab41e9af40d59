"""Reads from a torch_npu wheel, without importing it, what its transfer_to_npu covers.

`python -m tests.contract.transfer_to_npu WHEEL` writes the table that the guest and the scan share.
"""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from backends.migration.scan.facts import transfer

TABLE = transfer.SHIPPED


def covered(wheel: Path) -> dict[str, Any]:
    with zipfile.ZipFile(wheel) as opened:
        return transfer.parse_coverage(lambda name: opened.read(name).decode())


if __name__ == "__main__":
    TABLE.write_text(json.dumps(covered(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
