"""Figures over time. Tables as msprof writes them (analysis/csrc/viewer/database/finals/msprof_db.cpp), named as in the
text export where it has them; units as in the database: bytes, not KB."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.lookup import coded
from backends.timeline.db.names import strings
from backends.timeline.db.rows import Rows, blocks
from backends.timeline.db.slices import BAD_TIME, LATEST, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from backends.timeline.db.base import Base
    from backends.timeline.db.names import Names
    from backends.timeline.db.place import Places

    Numbers = NDArray[np.int64]

NO_FIGURE = "timeline.aside.row_figure"
RATE, SIZE = "B/s", "B"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """`labels`: columns that tell series apart; `texts`: those of them that hold ids of names; `module`: the one that
    ENUM_MODULE names. `name`: of a series, by labels and {figure}; `figures`: column -> (what it is called, unit)."""

    table: str
    process: str
    name: str
    figures: dict[str, tuple[str, str]]
    labels: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    module: str = ""
    host: bool = False


def _plain(unit: str, *columns: str) -> dict[str, tuple[str, str]]:
    return {column: (column, unit) for column in columns}


_PORT = {
    **_plain(RATE, "bandwidth", "rxByteRate", "txByteRate"),
    **_plain("1/s", "rxPacketRate", "txPacketRate"),
    **_plain(SIZE, "rxBytes", "txBytes"),
    **_plain("", "rxPackets", "rxErrors", "rxDropped", "txPackets", "txErrors", "txDropped"),
}
_PCIE = [
    f"{way}{of}"
    for way in ("txPost", "txNonpost", "txCpl", "rxPost", "rxNonpost", "rxCpl")
    for of in ("Min", "Max", "Avg")
]
_NETDEV = ("macTxPfcPkt", "macRxPfcPkt", "roceTxPkt", "roceRxPkt", "roceTxErrPkt", "roceRxErrPkt", "roceTxCnpPkt",
           "roceRxCnpPkt", "roceNewPktRty")  # fmt: skip
_NETDEV_BYTES = ("macTxByte", "macRxByte", "macTxBadByte", "macRxBadByte", "nicTxByte", "nicRxByte")
_NETDEV_RATES = ("macTxBandwidth", "macRxBandwidth", "nicTxBandwidth", "nicRxBandwidth")

LAYOUTS = (
    Layout(table="AICORE_FREQ", process="AI Core Freq", name="AI Core Freq", figures={"freq": ("", "MHz")}),
    Layout(
        table="HBM", process="HBM", name="HBM {hbmId}/{type}", labels=("hbmId", "type"), texts=("type",),
        figures={"bandwidth": ("", RATE)},
    ),
    Layout(
        table="LLC", process="LLC", name="LLC {llcId} {mode}/{figure}", labels=("llcId", "mode"), texts=("mode",),
        figures={"hitRate": ("Hit Rate", "%"), "throughput": ("Throughput", RATE)},
    ),
    Layout(
        table="DDR", process="DDR", name="DDR/{figure}", figures={"read": ("Read", RATE), "write": ("Write", RATE)}
    ),
    Layout(
        table="NPU_MEM", process="NPU MEM", name="{type}/{figure}", labels=("type",), texts=("type",),
        figures={"ddr": ("DDR", SIZE), "hbm": ("HBM", SIZE)},
    ),
    Layout(
        table="SOC_BANDWIDTH_LEVEL", process="Stars Soc Info", name="{figure}",
        figures={"l2BufferBwLevel": ("L2 Buffer Bw Level", ""), "mataBwLevel": ("Mata Bw Level", "")},
    ),
    Layout(
        table="ACC_PMU", process="Acc PMU", name="{figure} {accId}", labels=("accId",),
        figures={"readBwLevel": ("read_bandwidth", ""), "writeBwLevel": ("write_bandwidth", ""),
                 "readOstLevel": ("read_ost", ""), "writeOstLevel": ("write_ost", "")},
    ),
    Layout(
        table="QOS", process="QoS", name="QoS {eventName}", labels=("eventName",), texts=("eventName",),
        figures={"bandwidth": ("", RATE)},
    ),
    Layout(table="NIC", process="NIC", name="Port {funcId}/{figure}", labels=("funcId",), figures=_PORT),
    Layout(table="ROCE", process="RoCE", name="Port {funcId}/{figure}", labels=("funcId",), figures=_PORT),
    Layout(
        table="PCIE", process="PCIe", name="PCIe {figure}",
        figures={**_plain(RATE, *_PCIE),
                 **_plain("ns", "txNonpostLatencyMin", "txNonpostLatencyMax", "txNonpostLatencyAvg")},
    ),
    Layout(table="HCCS", process="HCCS", name="HCCS {figure}", figures=_plain(RATE, "txThroughput", "rxThroughput")),
    Layout(
        table="NETDEV_STATS", process="NetDev Stats", name="{figure}",
        figures={**_plain("", *_NETDEV), **_plain(SIZE, *_NETDEV_BYTES), **_plain(RATE, *_NETDEV_RATES)},
    ),
    Layout(
        table="SAMPLE_PMU_TIMELINE", process="AI Core", name="{coreType} {coreId}/{figure}",
        labels=("coreType", "coreId"), texts=("coreType",),
        figures={"usage": ("Usage", "%"), "freq": ("Frequency", "MHz"), "totalCycle": ("Cycles", "")},
    ),
    Layout(
        table="MEMORY_RECORD", process="Memory", name="{component} {figure}", labels=("component",),
        texts=("component",),
        figures={"totalAllocated": ("Allocated", SIZE), "totalReserved": ("Reserved", SIZE),
                 "totalActive": ("Active", SIZE)},
    ),
    Layout(
        table="NPU_OP_MEM", process="Operator memory", name="{component} {figure}", labels=("component",),
        texts=("component",), figures={"totalAllocate": ("Allocated", SIZE), "totalReserve": ("Reserved", SIZE)},
    ),
    Layout(
        table="NPU_MODULE_MEM", process="Module memory", name="{moduleId} {figure}", labels=("moduleId",),
        module="moduleId", figures={"totalReserved": ("Reserved", SIZE)},
    ),
    Layout(
        table="CPU_USAGE", process="CPU Usage", name="CPU {cpuId}", labels=("cpuId",), host=True,
        figures={"usage": ("", "%")},
    ),
    Layout(
        table="HOST_MEM_USAGE", process="Memory Usage", name="Memory Usage", host=True, figures={"usage": ("", "%")}
    ),
    Layout(
        table="HOST_DISK_USAGE", process="Disk Usage", name="Disk {figure}", host=True,
        figures={"readRate": ("Read", RATE), "writeRate": ("Write", RATE), "usage": ("Usage", "%")},
    ),
    Layout(
        table="HOST_NETWORK_USAGE", process="Network Usage", name="Network {figure}", host=True,
        figures={"usage": ("Usage", "%"), "speed": ("Speed", RATE)},
    ),
)  # fmt: skip


def read_counters(base: Base, places: Places, names: Names) -> None:
    modules = strings(base, "ENUM_MODULE", "name")
    for layout in LAYOUTS:
        label = partial(_label, layout, names, modules)
        for rows in blocks(base, layout.table, ("timestampNs", "deviceId", *layout.labels), tuple(layout.figures)):
            _add(layout, rows, places, label)


def _label(layout: Layout, names: Names, modules: dict[int, str], column: str, number: int) -> str:
    if column in layout.texts:
        return names.text(number)
    if column == layout.module:
        return modules.get(number, f"#{number}")
    return "" if number == ABSENT else str(number)


def _add(layout: Layout, rows: Rows, places: Places, label: Callable[[str, int], str]) -> None:
    """Each figure of each row is a sample; a row without any is set aside."""
    gather = places.gather
    gather.events += len(rows)
    sound = rows.where((rows["timestampNs"] > 0) & (rows["timestampNs"] < LATEST))
    set_aside(gather, BAD_TIME, len(rows) - len(sound))
    if not len(sound):
        return
    groups, codes = _groups(sound, ("deviceId", *layout.labels))
    some = np.zeros(len(sound), bool)
    for column, (called, unit) in layout.figures.items():
        good = np.isfinite(sound.figures[column])
        if not good.any():
            continue
        some |= good
        series = np.array([_series(layout, group, called, unit, places, label) for group in groups], np.int32)
        gather.samples.append((series[codes[good]], sound["timestampNs"][good], sound.figures[column][good]))
    gather.counter_events += int(some.sum())
    set_aside(gather, NO_FIGURE, int(len(some) - some.sum()))


def _groups(rows: Rows, columns: tuple[str, ...]) -> tuple[list[dict[str, int]], Numbers]:
    """The distinct values of these columns together, and for each row the number of its own."""
    together = np.zeros(len(rows), np.int64)
    for column in columns:
        found, codes = coded(rows[column])
        _, together = coded(together * len(found) + codes)
    _, first = np.unique(together, return_index=True)
    return [{column: int(rows[column][at]) for column in columns} for at in first.tolist()], together


def _series(
    layout: Layout, group: dict[str, int], called: str, unit: str, places: Places, label: Callable[[str, int], str]
) -> int:
    texts = {column: label(column, number) for column, number in group.items()}
    name = layout.name.format(figure=called, **texts).strip()
    pid = places.host(layout.process, 0) if layout.host else places.device(layout.process, group["deviceId"])
    return places.gather.series_of(places.source, pid, name, unit)
