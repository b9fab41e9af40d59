"""Tables of counters, as msprof writes them (analysis/csrc/viewer/database/finals/msprof_db.cpp). Series are named as
in the text export where it has them; units are those of the database: bytes, not KB."""

from __future__ import annotations

from dataclasses import dataclass

RATE, SIZE = "B/s", "B"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """`labels`: columns that distinguish series; `texts`: those of them that hold ids of names; `module`: the one that
    ENUM_MODULE names. `name`: pattern of the series name, with labels and {figure}; `figures`: column -> (display name,
    unit)."""

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
    f"{direction}{of}"
    for direction in ("txPost", "txNonpost", "txCpl", "rxPost", "rxNonpost", "rxCpl")
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
