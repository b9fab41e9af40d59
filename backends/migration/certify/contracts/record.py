"""What the guest recorded of one process: see studio/guest/ascend_studio/contract."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from studio import files

if TYPE_CHECKING:
    from collections.abc import Callable
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
    """Return those of a run that can be read, by rank."""
    contracts = []
    for path in sorted((folder / CONTRACTS).glob("contract.*.json")):
        try:
            contracts.append(msgspec.convert(files.read_json(path), Contract))
        except msgspec.ValidationError:
            continue
    return tuple(sorted(contracts, key=lambda contract: contract.rank))


def training_contracts(contracts: tuple[Contract, ...]) -> tuple[Contract, ...]:
    """Return those of processes that trained: one that only started them asked for less."""
    return tuple(contract for contract in contracts if contract.steps) or contracts


def with_project_paths(contracts: tuple[Contract, ...], project_path: Callable[[str], str]) -> tuple[Contract, ...]:
    """Return contracts whose paths are those of the project, not of its copy."""
    return tuple(
        replace(
            contract,
            topics={
                topic: tuple(replace(entry, path=project_path(entry.path)) for entry in entries)
                for topic, entries in contract.topics.items()
            },
            lines={project_path(path): spans for path, spans in contract.lines.items()},
        )
        for contract in contracts
    )


def has_half(contracts: tuple[Contract, ...]) -> bool:
    """Tell whether anything was computed in float16 or bfloat16, as far as a contract tells."""
    topics = ("autocast", "parameters", "loss", "batches", "default_dtype")
    entries = (entry for contract in contracts for topic in topics for entry in contract.entries(topic))
    return any("float16" in entry.text for entry in entries)


def ran_lines(contracts: tuple[Contract, ...]) -> dict[str, set[int]]:
    """Return the lines that ran in any process, by path."""
    lines: dict[str, set[int]] = {}
    for contract in contracts:
        for path, spans in contract.lines.items():
            numbers = lines.setdefault(path, set())
            for first, last in spans:
                numbers.update(range(first, last + 1))
    return lines


def seen_calls(contracts: tuple[Contract, ...]) -> dict[str, set[tuple[int, str]]]:
    """Return the lines and the names of calls that any process made, by path: of entries that read as a call."""
    calls: dict[str, set[tuple[int, str]]] = {}
    for contract in contracts:
        for entry in (entry for entries in contract.topics.values() for entry in entries):
            name, bracket, _ = entry.text.partition("(")
            if bracket and name.isidentifier():
                calls.setdefault(entry.path, set()).add((entry.line, name))
    return calls
