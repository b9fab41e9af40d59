"""The output of `npu-smi info`: cards, their chips, and the processes on them.

The tables differ by chip and version, but are all built alike: two rows for a chip, one for a process. They are read by
the shape of the rows; the formats are those of npu-smi's own source and of the outputs in tests/recorded/npu_smi.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

LONGEST = 1 << 20
PLACES = "/usr/local/bin:/usr/local/sbin:/usr/local/Ascend/driver/tools"

_VERSION = re.compile(r"npu-smi\s+(\S{1,40})")
# 0     910B3 | OK | 90.4        32                0    / 0
_OF_CARD = re.compile(r"(-|NA|\d{1,9}(?:\.\d{1,9})?) +(-|NA|-?\d{1,9}) +\d{1,20} */ *\d{1,20}", re.ASCII)
# 0     12    | 0000:85:00.0 | 0           0    / 0          3400 / 65536
_OF_CHIP = re.compile(r"(-|NA|\d{1,9}) +(\d{1,20}) */ *(\d{1,20})(?: +(\d{1,20}) */ *(\d{1,20}))?", re.ASCII)
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Card:
    """One chip. `device`: its place in the list, which is what ASCEND_RT_VISIBLE_DEVICES counts; `card`, `chip`: as
    npu-smi numbers them. Power in W, temperature in °C, memory in MB, use in percent; None where it says NA or -."""

    device: int
    card: int
    chip: int
    name: str
    health: str
    bus: str = ""
    power: float | None = None
    temperature: int | None = None
    used: int | None = None
    total: int | None = None
    use: int | None = None


@dataclass(frozen=True, kw_only=True)
class OnCard:
    """A process. `name` is empty where npu-smi, in a container, cannot see it. Memory in MB."""

    card: int
    chip: int
    pid: int
    name: str
    memory: int


@dataclass(frozen=True, kw_only=True)
class Output:
    """`unread`: rows that fit no known layout."""

    version: str = ""
    cards: tuple[Card, ...] = ()
    processes: tuple[OnCard, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether all of it was understood: only then does the absence of a process mean that a card is free."""
        return bool(self.cards) and not self.unread


@dataclass(frozen=True, kw_only=True)
class Holder:
    """Who holds a card. `user` and `command` are empty where /proc does not tell, or tells of another process: inside
    a container npu-smi may give the host's pids."""

    device: int
    card: int
    chip: int
    pid: int
    name: str
    memory: int
    user: str = ""
    command: str = ""


def run_npu_smi(seconds: float = 10) -> str | None:
    """Return what `npu-smi info` prints; None where it is missing, fails, or takes longer."""
    program = shutil.which("npu-smi", path=os.pathsep.join((os.environ.get("PATH", os.defpath), PLACES)))
    if program is None:
        return None
    try:
        child = subprocess.Popen(
            [program, "info"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None
    try:
        data, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        # A driver that hangs may hold it where no signal ends it: not waited for longer than this.
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=1)
        return None
    return data.decode("utf-8", "replace") if child.returncode == 0 else None


def read(text: str) -> Output:
    """Parse the output. Never raises; rows of an unknown layout are in `unread`."""
    version = _VERSION.search(text[:LONGEST])
    cards: list[Card] = []
    processes: list[OnCard] = []
    unread: list[str] = []
    first: Card | None = None
    in_processes = False
    for line, cells in _rows(text):
        if "Process id" in line:
            in_processes = True
        elif _is_head(line):
            in_processes = False
        elif in_processes:
            process = _process(cells)
            if process is not None:
                processes.append(process)
            elif "No running processes" not in line:
                unread.append(line)
        elif (card := _card(cells)) is not None:
            unread += [] if first is None else [f"{first.card} {first.name}"]
            first = card
        elif first is not None and (whole := _chip(cells, first, cards)) is not None:
            cards.append(whole)
            first = None
        else:
            unread.append(line)
    unread += [] if first is None else [f"{first.card} {first.name}"]
    return Output(
        version=version[1] if version else "", cards=tuple(cards), processes=tuple(processes), unread=tuple(unread)
    )


def _rows(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in text[:LONGEST].splitlines():
        row = line.strip()
        if len(row) > 2 and row[0] == row[-1] == "|":
            yield row, [cell.strip() for cell in row[1:-1].split("|")]


def _is_head(row: str) -> bool:
    return "npu-smi" in row or "Health" in row or "Bus-Id" in row


def _card(cells: list[str]) -> Card | None:
    """The first row of a chip; of an Ascend 950 the number and the name stand in cells of their own."""
    numbers = _OF_CARD.fullmatch(cells[-1])
    card, _, name = " ".join(cells[:-2]).partition(" ")
    if len(cells) not in (3, 4) or numbers is None or not _WHOLE.fullmatch(card) or not name.strip():
        return None
    return Card(
        device=-1, card=int(card), chip=0, name=name.strip(), health=cells[-2],
        power=float(numbers[1]) if numbers[1] not in ("-", "NA") else None, temperature=_number(numbers[2]),
    )  # fmt: skip


def _chip(cells: list[str], first: Card, before: list[Card]) -> Card | None:
    """The second row of a chip. Where it has two memories, the second is the HBM."""
    numbers = _OF_CHIP.fullmatch(cells[-1])
    if len(cells) not in (3, 4) or numbers is None:
        return None
    words = " ".join(cells[:-2]).split()
    number = _number(words[0]) if words else None
    chip = sum(card.card == first.card for card in before) if number is None else number
    has_hbm = numbers[4] is not None and int(numbers[5]) > 0
    return Card(
        device=len(before), card=first.card, chip=chip, name=first.name, health=first.health, bus=cells[-2],
        power=first.power, temperature=first.temperature, use=_number(numbers[1]),
        used=int(numbers[4] if has_hbm else numbers[2]), total=int(numbers[5] if has_hbm else numbers[3]),
    )  # fmt: skip


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else None


def _process(cells: list[str]) -> OnCard | None:
    where = cells[0].split()
    if len(cells) != 4 or not 1 <= len(where) <= 2 or not all(map(_WHOLE.fullmatch, (*where, cells[1]))):
        return None
    memory = _number(cells[3])
    chip = int(where[1]) if len(where) == 2 else 0
    return OnCard(card=int(where[0]), chip=chip, pid=int(cells[1]), name=cells[2], memory=memory or 0)


def holders(text: str, requested_cards: Collection[int]) -> tuple[Holder, ...]:
    """Return the processes on the requested devices, by their index in the list; without a request, on any. Never
    raises.
    """
    output = read(text)
    devices = {(card.card, card.chip): card.device for card in output.cards}
    device_processes = (
        (devices.get((process.card, process.chip), process.card), process) for process in output.processes
    )
    return tuple(
        _holder(device, one) for device, one in device_processes if not requested_cards or device in requested_cards
    )


def _holder(device: int, process: OnCard) -> Holder:
    user, command = _visible_process(process.pid, process.name)
    return Holder(
        device=device, card=process.card, chip=process.chip, pid=process.pid, name=process.name,
        memory=process.memory, user=user, command=command,
    )  # fmt: skip


def _visible_process(pid: int, name: str) -> tuple[str, str]:
    """User and command line of a process, as /proc has them."""
    folder = Path("/proc", str(pid))
    try:
        called = folder.joinpath("comm").read_text(errors="replace").strip()
        words = folder.joinpath("cmdline").read_bytes()[:4096].decode("utf-8", "replace").split("\0")
        owner = folder.stat().st_uid
    except (OSError, ValueError):
        return "", ""
    command = " ".join(filter(None, words))
    if name and called and not (called.startswith(name[:15]) or name in command):
        return "", ""
    try:
        return pwd.getpwuid(owner).pw_name, command[:500]
    except KeyError:
        return str(owner), command[:500]
