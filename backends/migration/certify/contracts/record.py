"""What the guest recorded of one process: see studio/guest/ascend_studio/contract."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from studio import files

if TYPE_CHECKING:
    from pathlib import Path

CONTRACTS = "artifacts/contracts"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A text, how often, and the line that caused it first. `path`: absolute in a file of the guest."""

    text: str
    path: str = ""
    line: int = 0
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class Contract:
    """`topics`: entries by topic, in order; `rests`: digests of what followed beyond the bound of a topic; `lines`:
    first and last of each run of lines that ran, by file."""

    rank: int
    stance: str
    device: str
    steps: int = 0
    topics: dict[str, tuple[Entry, ...]] = field(default_factory=dict)
    rests: dict[str, str] = field(default_factory=dict)
    lines: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def entries(self, topic: str) -> tuple[Entry, ...]:
        return self.topics.get(topic, ())


def read_contracts(folder: Path) -> tuple[Contract, ...]:
    """Return those of a run that can be read, by rank; of processes without a step those alone that have no like."""
    contracts = []
    for path in sorted((folder / CONTRACTS).glob("contract.*.json")):
        try:
            contracts.append(msgspec.convert(files.read_json(path), Contract))
        except msgspec.ValidationError:
            continue
    stepped = [contract for contract in contracts if contract.steps]
    return tuple(sorted(stepped or contracts, key=lambda contract: contract.rank))


def ran_lines(contracts: tuple[Contract, ...]) -> dict[str, set[int]]:
    """Return the lines that ran in any process, by absolute path."""
    lines: dict[str, set[int]] = {}
    for contract in contracts:
        for path, spans in contract.lines.items():
            numbers = lines.setdefault(path, set())
            for first, last in spans:
                numbers.update(range(first, last + 1))
    return lines
