"""What msprobe's check passes over: seeds, determinism, versions, threads. Only what both sides have is held against
each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.precision.config.result import CheckRow, Sentence, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from backends.precision.config.pack import Own, Pack
    from backends.precision.config.result import Level, Part

EXTRA_HEADER = ("rank", "what", "golden", "target")
ACCELERATORS = {"npu", "cuda"}
# The framework's own generators decide weights, dropout and order; Python's and numpy's only where a script uses them.
TELLING_SEEDS = ("torch.", "mindspore.")
TELLING_SWITCHES = ("torch.", "mindspore.", "HCCL_DETERMINISTIC", "LCCL_DETERMINISTIC", "cudnn.", "cuda.matmul.")
OF_NPU = ("HCCL_", "LCCL_", "ATB_", "ASCEND_", "CLOSE_MATMUL_", "TASK_QUEUE_", "INF_NAN_")
OF_GPU = ("NCCL_", "CUBLAS_", "CUDA_", "NVIDIA_", "TORCH_ALLOW_TF32", "cudnn.", "cuda.")
ON = ("1", "true", "on", "strict")


def extra_parts(pairs: Sequence[tuple[Pack, Pack]]) -> tuple[Part, ...]:
    """Return the parts that we check ourselves, of the pairs whose sides both have studio.json."""
    owned = [(pack.rank, pack.own, other.own) for pack, other in pairs if pack.own and other.own]
    if not owned:
        return ()
    rows_of_parts = {
        "seeds": [row for rank, a, b in owned for row in _seeds(rank, a, b)],
        "determinism": [row for rank, a, b in owned for row in _switches(rank, a, b)],
        "versions": [row for rank, a, b in owned for row in _versions(rank, a, b)],
        "threads": [row for rank, a, b in owned for row in _rows(rank, a.threads, b.threads, lambda _: "warning")],
    }
    return tuple(part(name, EXTRA_HEADER, rows) for name, rows in rows_of_parts.items())


def value_text(value: Any) -> str:
    """As a cell shows it; JSON's true is what a shell would call it."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _rows(rank: int, golden: Mapping[str, Any], target: Mapping[str, Any], level: Any) -> Iterator[CheckRow]:
    for name in sorted({*golden, *target}):
        a, b = value_text(golden.get(name)), value_text(target.get(name))
        if a or b:
            yield CheckRow("pass" if a == b else level(name), (str(rank), name, a, b))


def _seeds(rank: int, a: Own, b: Own) -> Iterator[CheckRow]:
    """A device's generator under one name, whichever device it is."""
    golden, target = ({_plain_device(name): value for name, value in own.seeds.items()} for own in (a, b))
    both = golden.keys() & target.keys()

    def level(name: str) -> Level:
        return "error" if name in both and name.startswith(TELLING_SEEDS) else "warning"

    return _rows(rank, golden, target, level)


def _plain_device(name: str) -> str:
    return ".".join("device" if word in ACCELERATORS else word for word in name.split("."))


def _switches(rank: int, a: Own, b: Own) -> Iterator[CheckRow]:
    """A switch of one kind of device says nothing where the other side has another kind."""
    kinds = {device_kind(a), device_kind(b)}
    foreign = (*(OF_NPU if kinds == {"gpu"} else ()), *(OF_GPU if kinds == {"npu"} else ()))
    if len(kinds) > 1:
        foreign = (*OF_NPU, *OF_GPU)
    golden, target = (
        {name: value for name, value in own.determinism.items() if not name.startswith(foreign)} for own in (a, b)
    )

    def level(name: str) -> Level:
        both = name in golden and name in target
        return "error" if both and name.startswith(TELLING_SWITCHES) else "warning"

    rows = list(_rows(rank, golden, target, level))
    yield from (_judged_off(row, (a, b)) for row in rows)
    if not any(row.cells[1] in _framework_switches((a, b)) for row in rows) and not _are_deterministic((a, b)):
        yield CheckRow("warning", (str(rank), _framework_switches((a, b))[0], "", ""))


def _judged_off(row: CheckRow, sides: tuple[Own, Own]) -> CheckRow:
    """A switch of determinism that is off on both sides is equal, and no pass: each run computes something else."""
    is_off = not all(cell.lower() in ON for cell in row.cells[2:4])
    is_switch = row.cells[1] in (*_framework_switches(sides), "HCCL_DETERMINISTIC")
    if row.level == "pass" and is_switch and is_off and not _are_deterministic(sides):
        return CheckRow("warning", row.cells)
    return row


def _framework_switches(sides: tuple[Own, Own]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys([*(f"{own.framework}.deterministic" for own in sides), "torch.deterministic_algorithms"])
    )


def _are_deterministic(sides: tuple[Own, Own]) -> bool:
    return all(map(is_deterministic, sides))


def device_kind(own: Own) -> str:
    """npu, gpu or cpu, by what it trained on."""
    names = " ".join(own.devices).lower()
    if "ascend" in names or "npu" in names or "910" in names:
        return "npu"
    return "cpu" if names in ("", "cpu") else "gpu"


def _versions(rank: int, a: Own, b: Own) -> Iterator[CheckRow]:
    golden = {**a.versions, "device": ", ".join(dict.fromkeys(a.devices)), "framework": a.framework}
    target = {**b.versions, "device": ", ".join(dict.fromkeys(b.devices)), "framework": b.framework}
    yield from _rows(rank, golden, target, lambda name: "error" if name == "framework" else "warning")


def is_deterministic(own: Own) -> bool:
    """As far as its switches say: the framework's, and on an NPU the communication's."""
    switches = {name: value_text(value).lower() for name, value in own.determinism.items()}
    names = [f"{own.framework}.deterministic", "torch.deterministic_algorithms"]
    framework = any(switches.get(name) in ON for name in names)
    return framework and (device_kind(own) != "npu" or own.world < 2 or switches.get("HCCL_DETERMINISTIC") in ON)


def todo(pairs: Iterable[tuple[Pack, Pack]], parts: Iterable[Part]) -> Iterator[Sentence]:
    """What follows from our own parts, once however many ranks say it."""
    by_name = {part.name: [row.cells for row in part.rows if row.level != "pass"] for part in parts}
    for _, name, golden, target in _once(by_name.get("seeds", [])):
        if not name.endswith(".state") and golden and target:
            yield Sentence(key="precision.config.set_seed", args={"name": name, "golden": golden, "target": target})
    states = [name for _, name, _, _ in _once(by_name.get("seeds", [])) if name.endswith(".state")]
    if states and not [name for _, name, _, _ in by_name["seeds"] if name.endswith(".seed")]:
        yield Sentence(key="precision.config.states_differ", args={"names": ", ".join(states)})
    for _, name, golden, target in _once(by_name.get("determinism", [])):
        if golden == target:
            continue  # off on both: told by what makes it deterministic
        args = {"name": name, "golden": golden or "–", "target": target or "–"}
        yield Sentence(key="precision.config.set_switch", args=args)
    sides = [own for pair in pairs for own in (pair[0].own, pair[1].own) if own is not None]
    if sides and not all(is_deterministic(own) for own in sides):
        key = "precision.config.deterministic_torch"
        if sides[0].framework == "mindspore":
            key = "precision.config.deterministic_mindspore"
        yield Sentence(key=key)
    for _, name, golden, target in _once(by_name.get("threads", [])):
        if "threads" in name.lower():
            args = {"name": name, "golden": golden or "–", "target": target or "–"}
            yield Sentence(key="precision.config.set_threads", args=args)


def _once(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the first row of each name."""
    return list({row[1]: row for row in reversed(rows)}.values())[::-1]
