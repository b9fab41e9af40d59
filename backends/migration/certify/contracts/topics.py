"""The topics of a contract: which check each belongs to, and how its entries are compared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from backends.migration.certify.certificate import CheckName

Order = Literal["sequence", "set", "counted"]
"""sequence: the same entries in the same order; set: the same entries; counted: each as often."""
TOPICS: dict[CheckName, dict[str, Order]] = {
    "devices": {"devices": "set", "selected": "sequence", "host_moves": "counted"},
    "dtypes": {"default_dtype": "sequence", "autocast": "counted", "buffers": "set", "loss": "counted"},
    "scaler": {"scaler": "sequence"},
    "seeds": {"seeds": "sequence"},
    "groups": {"groups": "sequence"},
    "collectives": {"collectives": "sequence"},
    "optimizer": {"optimizer": "sequence", "parameters": "sequence", "optimizer_steps": "sequence"},
    "batches": {"loaders": "sequence", "batches": "sequence"},
    "saved": {"saved": "sequence"},
    "memory": {
        "checkpointing": "counted", "offloading": "counted", "limits": "sequence", "graphs": "counted",
        "gradients_kept": "counted",
    },
}  # fmt: skip
UNSEEN: dict[CheckName, str] = {
    "devices": "migration.certify.contract.unseen.devices",
    "dtypes": "migration.certify.contract.unseen.dtypes",
    "scaler": "migration.certify.contract.unseen.scaler",
    "seeds": "migration.certify.contract.unseen.seeds",
    "groups": "migration.certify.contract.unseen.groups",
    "collectives": "migration.certify.contract.unseen.collectives",
    "optimizer": "migration.certify.contract.unseen.optimizer",
    "batches": "migration.certify.contract.unseen.batches",
    "saved": "migration.certify.contract.unseen.saved",
    "memory": "migration.certify.contract.unseen.memory",
}
"""Why a check was not run where neither side asked for any of its topics."""
DEVICE_TOPICS = frozenset(("devices", "selected", "places"))
"""Topics that the rehearsal with a device of its own answers."""
_CARD = re.compile(r"\b(?:cuda|npu)\b")
_BACKEND = re.compile(r"\b(?:nccl|hccl)\b")


def comparable(text: str) -> str:
    """Return a text with the two names of a card, and of its backend, as one. Nothing else is taken for the same."""
    return _BACKEND.sub("ccl", _CARD.sub("card", text))
