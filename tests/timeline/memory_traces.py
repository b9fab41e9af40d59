"""Traces in memory, from plain lists: no source, no reader. Rows come from the same partition as in a real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.kinds import FAMILIES, Family, LaneKind
from backends.timeline.trace import FORMAT, Lane, Meta, Process, Series, Source, Step, Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

ORIGIN = 1_736_412_474_714_258_990  # ns since the epoch, as in real data
OF_KIND: dict[LaneKind, Family] = {
    "host": "host", "api": "api", "device": "compute", "communication": "communication", "overlap": "free",
    "counter": "other", "other": "other",
}  # fmt: skip
Slices = list[tuple[int, int, str]]


@dataclass(kw_only=True)
class LaneSpec:
    """A lane to be: slices (start, end, name) in ns since the origin, in any order; lanes of a process side by side."""

    name: str = "Stream 1"
    kind: LaneKind = "device"
    process: str = "Ascend Hardware"
    rank: int | None = 0
    slices: Slices = field(default_factory=list)


@dataclass(kw_only=True)
class Figures:
    """A series to be. `samples`: (time, value)."""

    name: str
    unit: str = ""
    process: int = 0
    samples: list[tuple[int, float]]


def trace_of(
    folder: Path,
    lanes: Sequence[LaneSpec],
    *,
    arrows: Sequence[tuple[int, int, int, int, str]] = (),
    steps: Sequence[tuple[int, int, int]] = (),
    series: Sequence[Figures] = (),
    families: dict[str, Family] | None = None,
    last: int | None = None,
) -> Trace:
    """`arrows`: (from lane, from time, to lane, to time, kind). `families`: of names; else the kind of the lane says.
    `steps`: (number, start, end). Each slice's event is its number in the order given."""
    names: dict[str, int] = {}
    family: list[Family] = []
    rows: list[list[tuple[int, int, int, int]]] = []
    row_lane: list[int] = []
    event = 0
    described: list[tuple[int, int]] = []
    for number, lane in enumerate(lanes):
        first = len(rows)
        numbered: list[tuple[int, int, int, int]] = []
        for start, end, text in lane.slices:
            if text not in names:
                names[text] = len(names)
                family.append((families or {}).get(text, OF_KIND[lane.kind]))
            numbered.append((start, end, names[text], event))
            event += 1
        rows += partition(numbered)
        row_lane += [number] * (len(rows) - first)
        described.append((first, len(rows) - first))
    table = np.array([entry for row in rows for entry in row], np.int64).reshape(-1, 4)
    return _trace(
        folder,
        columns=(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].astype(np.int32), table[:, 3].copy()),
        row_begin=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        row_lane=np.array(row_lane, np.int32),
        names=list(names),
        family=np.array([FAMILIES.index(entry) for entry in family], np.uint8),
        lanes=lanes,
        rows_of=described,
        arrows=arrows,
        steps=steps,
        series=series,
        last=last,
    )


def partition(slices: list[tuple[int, int, int, int]]) -> list[list[tuple[int, int, int, int]]]:
    """Rows of (start, end, ...): nested ones below their parent, others in the first row that is free."""
    rows: list[list[tuple[int, int, int, int]]] = []
    for span in sorted(slices, key=lambda span: (span[0], -span[1])):
        for row in rows:
            if row[-1][1] <= span[0]:
                row.append(span)
                break
        else:
            rows.append([span])
    return rows


def many(folder: Path, slices: int = 10_000_000, *, lanes: int = 100, names: int = 24, arrows: int = 0) -> Trace:
    """10 s of random slices in five rows per lane, like `prototypes/timeline_frames/tl_data.py`. Lanes by turns are
    device, host, communication, api. `arrows`: so many, between random slices of random lanes."""
    rng = np.random.default_rng(0)
    kinds: tuple[LaneKind, ...] = ("device", "host", "communication", "api")
    specs = [
        LaneSpec(name=f"lane {i}", kind=kinds[i % 4], process=f"process {i // 10}", rank=i // 10) for i in range(lanes)
    ]
    rows = [
        _random_row(rng, max(1, int(slices // lanes * share))) for _ in specs for share in (0.3, 0.3, 0.2, 0.15, 0.05)
    ]
    start, end = (np.concatenate([row[i] for row in rows]) for i in (0, 1))
    count = len(start)
    linked = rng.integers(0, count, (arrows, 2))
    row_begin = np.cumsum([0, *(len(row[0]) for row in rows)], dtype=np.int64)
    lane_of = (np.searchsorted(row_begin, linked, "right") - 1) // 5
    ends = [
        (int(a), int(start[i]), int(b), int(start[j]), "HostToDevice")
        for (i, j), (a, b) in zip(linked.tolist(), lane_of.tolist(), strict=True)
    ]
    return _trace(
        folder,
        columns=(start, end, rng.integers(0, names, count, dtype=np.int32), np.arange(count, dtype=np.int64)),
        row_begin=row_begin,
        row_lane=np.repeat(np.arange(lanes, dtype=np.int32), 5),
        names=[f"kernel_{i:x}_{'long' * (i % 7)}_动" for i in range(names)],
        family=np.arange(names, dtype=np.uint8) % len(FAMILIES),
        lanes=specs,
        rows_of=[(5 * i, 5) for i in range(lanes)],
        arrows=ends,
    )


def _random_row(rng: np.random.Generator, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    gap, length = rng.exponential(1.0, count), rng.lognormal(0, 1.2, count)
    scale = 1e10 / float((gap + length).sum())
    start = (np.cumsum((gap + length) * scale) - length * scale).astype(np.int64)
    end = start + np.maximum((length * scale).astype(np.int64), 1)
    return start, np.minimum(end, np.append(start[1:], np.int64(2 * 10**10)))


def _trace(
    folder: Path,
    *,
    columns: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    row_begin: NDArray[np.int64],
    row_lane: NDArray[np.int32],
    names: list[str],
    family: NDArray[np.uint8],
    lanes: Sequence[LaneSpec],
    rows_of: list[tuple[int, int]],
    arrows: Sequence[tuple[int, int, int, int, str]] = (),
    steps: Sequence[tuple[int, int, int]] = (),
    series: Sequence[Figures] = (),
    last: int | None = None,
) -> Trace:
    start, end, name, event = columns
    cover = np.zeros(len(start) + 1, np.int64)
    np.cumsum(end - start, out=cover[1:])
    encoded = [text.encode("utf-8", "replace") for text in names]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "names.bin").write_bytes(b"".join(encoded))
    processes = list(dict.fromkeys((lane.process, lane.rank) for lane in lanes))
    order = sorted(range(len(arrows)), key=lambda i: arrows[i][:2])
    kinds = list(dict.fromkeys(arrows[i][4] for i in order))
    arrow = np.array([arrows[i][:4] for i in order], np.int64).reshape(-1, 4)
    samples = [sorted(counter.samples) for counter in series]
    final = (
        max([int(end.max(initial=0)), *(counter[-1][0] for counter in samples if counter)]) if last is None else last
    )
    meta = Meta(
        format=FORMAT,
        origin_ns=ORIGIN,
        last_ns=ORIGIN + final,
        is_epoch=True,
        sources=(Source(path=".", kind="text", rank=0),),
        processes=tuple(Process(source=0, pid=str(i), name=n, rank=r) for i, (n, r) in enumerate(processes)),
        lanes=tuple(
            Lane(
                process=processes.index((lane.process, lane.rank)),
                tid=str(i),
                name=lane.name,
                kind=lane.kind,
                first_row=first,
                rows=rows,
                slices=int(row_begin[first + rows] - row_begin[first]),
            )
            for i, (lane, (first, rows)) in enumerate(zip(lanes, rows_of, strict=True))
        ),
        series=tuple(_series(series, samples)),
        steps=tuple(Step(number=n, start=a, end=b, rank=0) for n, a, b in steps),
        flow_kinds=tuple(kinds),
        events=len(start),
        slices=int((end > start).sum()),
        instants=int((end == start).sum()),
        flows=len(arrow),
        arrows=len(arrow),
        flow_ends=2 * len(arrow),
        dangling=0,
        counters=sum(map(len, samples)),
        metadata=0,
        set_aside={},
    )
    flat = np.array([counter for some in samples for counter in some], np.float64).reshape(-1, 2)
    return Trace(
        folder=folder,
        root=folder,
        meta=meta,
        start=start,
        end=end,
        name=name,
        event=event,
        row_begin=row_begin,
        row_lane=row_lane,
        cover=cover,
        arrow=arrow,
        arrow_kind=np.array([kinds.index(arrows[i][4]) for i in order], np.int32),
        arrow_by_to=np.lexsort((arrow[:, 3], arrow[:, 2])).astype(np.int32),
        sample_time=flat[:, 0].astype(np.int64),
        sample_value=flat[:, 1].copy(),
        name_family=family,
        name_begin=np.cumsum([0, *map(len, encoded)], dtype=np.int64),
    )


def _series(series: Sequence[Figures], samples: list[list[tuple[int, float]]]) -> Iterator[Series]:
    begin = 0
    for spec, some in zip(series, samples, strict=True):
        values = [value for _, value in some]
        yield Series(
            process=spec.process,
            name=spec.name,
            unit=spec.unit,
            begin=begin,
            end=begin + len(some),
            low=min(values, default=0.0),
            high=max(values, default=0.0),
        )
        begin += len(some)
