"""The rehearsals behind a certificate: what their run.json asks for, and what their logs say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from studio.tail import last_lines

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.certify.spec import CertifySpec
    from backends.migration.compare_sides.spec import CompareSidesSpec

REHEARSE_COMMAND = "rehearse"
# Tells the guest to hide torch_npu: a host with CUDA has none, and code for both has to take its path for CUDA.
CUDA_ALONE = {"ASCEND_STUDIO_REHEARSAL_NPU": "no"}
MAX_LOG_BYTES = 64 << 20
"""How many bytes of a log are read at most."""
MAX_END_BYTES = 1 << 16
_CUDA_ERROR = re.compile(
    r"not compiled with CUDA|CUDA error|CUDA driver|CUDA runtime|No CUDA GPUs|NVIDIA driver|NCCL error|cuDNN error"
    r"|cublas\w* error|libcuda\S*:|libnccl\S*:|nvidia-smi: (command )?not found|CUDA_HOME environment|without NCCL"
    r"|NCCL (backend|process group) is not|'cuda', but CUDA is not available|CUDA is not available\. Disabl"
    r"|deserialize object on a CUDA device|CUDA (is )?required",
    re.IGNORECASE,
)
_SPEAKS_OF_CUDA = re.compile(r"cuda|nccl|nvtx|nvidia|cudnn|cublas", re.IGNORECASE)
_RULE = re.compile(r"[-=*_#~]{4,}")
_ERROR = re.compile(r"(\[rank\d+\]:\s*)?[A-Za-z_][\w.]*(Error|Exception|Exit|Interrupt)\b")
# What a virtual NPU has no stand-in for, and an operator that it lacks: neither says anything about a card.
_VIRTUAL_LIMIT = re.compile(r"[Tt]he virtual NPU (has|cannot|does not)|NotImplementedError: .*PrivateUse1")


def rehearsal_values(
    spec: CertifySpec | CompareSidesSpec, stance: str, line: tuple[str, ...], workdir: Path, npu_device: str = "auto"
) -> dict[str, Any]:
    """Return the values of run.json for a rehearsal; `tests/migration` checks them against its spec. `npu_device`: cpu
    where both sides have to compute alike, as the virtual NPU takes float16 and operators as a card does."""
    proof = spec.proof
    python = spec.training.python
    return {
        "program": {"line": list(line), "workdir": str(workdir), "python": str(python) if python.parts else ""},
        "rehearsal": {
            "stance": stance,
            "steps": proof.steps,
            "minutes": proof.minutes,
            "memory": proof.memory,
            "host_cards": proof.host_cards,
            "npu_device": npu_device,
            "seed": proof.seed,
        },
        "environment": {"env": dict(spec.environment.env) | (CUDA_ALONE if stance == "cuda" else {})},
    }


def first_cuda_error(log: Path) -> str:
    """Return the first line of a log that complains about missing CUDA, "" where none does."""
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            read = 0
            for line in lines:
                read += len(line)
                if read > MAX_LOG_BYTES:
                    return ""
                if len(line) < 10000 and _CUDA_ERROR.search(line):
                    return line.strip()[:300]
    except OSError:
        pass
    return ""


def virtual_limit(log: Path) -> str:
    """Return the line of a log in which the virtual NPU says what it cannot do, though a card may; "" where none
    does."""
    lines = [line.decode("utf-8", "replace").strip() for line in last_lines(log)]
    return next((line for line in reversed(lines) if _VIRTUAL_LIMIT.search(line)), "")[:300]


def last_log_line(log: Path) -> str:
    """Return the last line that tells something: of a traceback, the error itself; of a log that ends with torchrun's
    report, the error of the rank that it names as the root cause, or how that rank ended."""
    lines = [line.decode("utf-8", "replace").strip() for line in last_lines(log, MAX_END_BYTES)]
    line = next((line for line in reversed(lines) if line), "")
    if _RULE.fullmatch(line):
        line = _root_cause(lines) or next((line for line in reversed(lines) if line and not _RULE.fullmatch(line)), "")
    return line[:300]


def _root_cause(lines: list[str]) -> str:
    """Return what a log that ends with torchrun's report says of the root cause, "" where it has no such report."""
    begin = max((number for number, line in enumerate(lines) if line.startswith("Root Cause")), default=None)
    if begin is None:
        return ""
    report = dict(line.split(":", 1) for line in lines[begin:] if ":" in line)
    values = {key.strip(): value.strip() for key, value in report.items()}
    mark = f"[rank{values.get('rank', '').partition(' ')[0]}]:"
    errors = [line for line in lines if _ERROR.match(line) and "ChildFailedError" not in line]
    own = [line for line in errors if line.startswith(mark)]
    signal = values.get("traceback", "") if values.get("traceback", "").startswith("Signal") else ""
    ends = f"exitcode: {values['exitcode']}" if "exitcode" in values else ""
    return own[-1] if own else signal or (errors[-1] if errors else ends)


def is_cuda_error(message: str) -> bool:
    """Tell whether an error speaks of CUDA. One of an operator that a device lacks lists CUDA among others."""
    return bool(_SPEAKS_OF_CUDA.search(message)) and not message.startswith("Could not run 'aten::")
