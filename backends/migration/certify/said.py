"""What a log says of a CUDA that is not there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST = 64 << 20
"""Bytes of a log that are read."""
_CUDA = re.compile(
    r"not compiled with CUDA|CUDA error|CUDA driver|CUDA runtime|No CUDA GPUs|NVIDIA driver|NCCL error|cuDNN error"
    r"|cublas\w* error|libcuda\S*:|libnccl\S*:|nvidia-smi: (command )?not found|CUDA_HOME environment|without NCCL"
    r"|NCCL (backend|process group) is not|'cuda', but CUDA is not available|CUDA is not available\. Disabl"
    r"|deserialize object on a CUDA device|CUDA (is )?required",
    re.IGNORECASE,
)


def cuda_error(log: Path) -> str:
    """The first line that complains; "" where none does."""
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            read = 0
            for line in lines:
                read += len(line)
                if read > MOST:
                    return ""
                if len(line) < 10000 and _CUDA.search(line):
                    return line.strip()[:300]
    except OSError:
        pass
    return ""


def last_line(log: Path) -> str:
    """What a program said last: of a traceback, the error itself."""
    from studio.tail import last_lines

    lines = [line.decode("utf-8", "replace").strip() for line in last_lines(log)]
    return next((line for line in reversed(lines) if line), "")[:300]
