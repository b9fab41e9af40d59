"""A long dump out of a short real one: its calls again and again, numbered on, each time with other values."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

NUMBER = re.compile(r"\.(\d+)\.(forward|backward)$")
STATISTICS = ("Max", "Min", "Mean", "Norm")


def lengthen(short: Path, long: Path, calls: int, wrong: int = -1) -> None:
    """`short`, `long`: folders with dump.json. `calls` in all, or a few less. `wrong`: in which repetition the last
    operator before the loss has a result that is 10 % too large; everything behind it stays as it is."""
    dump = json.loads((short / "dump.json").read_bytes())
    stacks = json.loads((short / "stack.json").read_bytes())
    times = calls // len(dump["data"])
    counts = _counts(dump["data"])
    forward = [name for name in dump["data"] if name.endswith("forward")]
    backward = [name for name in dump["data"] if name.endswith("backward")]
    order = [(name, i) for i in range(times) for name in forward]
    order += [(name, i) for i in reversed(range(times)) for name in backward]
    data = {_renamed(name, i, counts): _changed(dump["data"][name], 1 + i / 1000) for name, i in order}
    if wrong >= 0:
        _enlarge(data[_renamed(forward[-2], wrong, counts)]["output"][0])
    long.mkdir(parents=True)
    (long / "dump.json").write_text(json.dumps(dump | {"data": data}))
    (long / "construct.json").write_text("{}")
    longer = {key: [[_renamed(name, i, counts) for name in names for i in range(times)], lines]
              for key, (names, lines) in stacks.items()}  # fmt: skip
    (long / "stack.json").write_text(json.dumps(longer))


def _counts(data: dict[str, Any]) -> dict[str, int]:
    """How many calls each api has."""
    counts: dict[str, int] = {}
    for name in data:
        match = NUMBER.search(name)
        assert match is not None
        api = name[: match.start()]
        counts[api] = max(counts.get(api, 0), int(match.group(1)) + 1)
    return counts


def _renamed(name: str, i: int, counts: dict[str, int]) -> str:
    match = NUMBER.search(name)
    assert match is not None
    api = name[: match.start()]
    return f"{api}.{int(match.group(1)) + i * counts[api]}.{match.group(2)}"


def _changed(value: Any, factor: float) -> Any:
    if isinstance(value, list):
        return [_changed(element, factor) for element in value]
    if not isinstance(value, dict):
        return value
    if "Norm" in value:
        numbers = {key: value[key] * factor if isinstance(value[key], float) else value[key] for key in STATISTICS}
        return value | numbers
    return {key: _changed(element, factor) for key, element in value.items()}


def _enlarge(tensor: dict[str, Any]) -> None:
    tensor.update({key: tensor[key] * 1.1 for key in STATISTICS})
