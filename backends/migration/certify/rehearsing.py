"""What the two rehearsals are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.certify.spec import CertifySpec

COMMAND = "rehearse"
# As the guest reads it: a host with CUDA has no torch_npu, and code for both is to take its path for CUDA.
CUDA_ALONE = {"ASCEND_STUDIO_REHEARSAL_NPU": "no"}


def values(spec: CertifySpec, stance: str, line: tuple[str, ...], workdir: Path) -> dict[str, Any]:
    """As run.json of a rehearsal has them; `tests/migration` holds them against its spec."""
    proof = spec.proof
    python = spec.training.python
    return {
        "program": {"line": list(line), "workdir": str(workdir), "python": str(python) if python.parts else ""},
        "rehearsal": {
            "stance": stance, "steps": proof.steps, "minutes": proof.minutes, "memory": proof.memory,
            "host_cards": proof.host_cards, "seed": proof.seed,
        },
        "environment": {"env": dict(spec.environment.env) | (CUDA_ALONE if stance == "cuda" else {})},
    }  # fmt: skip
