"""The table of all devices that HCCL reads where one process is started for each of them.

Format 1.0, as https://www.hiascend.com/document/detail/en/CANNCommunityEdition/900/API/hcclug/hcclug_000067.html and
https://www.mindspore.cn/tutorials/en/master/parallel/rank_table.html describe it: every number is text, ranks count
from 0 over all servers, each address is there once.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ADDRESSES = Path("/etc/hccn.conf")
"""Written by hccn_tool: `address_0=192.168.1.6` for device 0."""

LONGEST_ID = 63
_ADDRESS = re.compile(r"\s*address_(\d{1,4})\s*=\s*(\S+)\s*")


@dataclass(frozen=True, kw_only=True)
class Server:
    """`devices`: number of a card on this host, and the address of its network port, in the order of the ranks."""

    id: str
    devices: tuple[tuple[int, str], ...]


def addresses(text: str) -> dict[int, str]:
    """Address by number of the card; lines that say something else are left out."""
    matches = (_ADDRESS.fullmatch(line) for line in text.splitlines())
    return {int(match[1]): match[2] for match in matches if match and is_address(match[2])}


def host_addresses() -> dict[int, str]:
    """Return the addresses of this host's NPUs; none where the file cannot be read."""
    try:
        return addresses(ADDRESSES.read_text("utf-8", "replace"))
    except OSError:
        return {}


def is_address(text: object) -> bool:
    try:
        ipaddress.ip_address(text if isinstance(text, str) else "")
    except ValueError:
        return False
    return True


def make_table(servers: Sequence[Server]) -> dict[str, Any]:
    ranks = iter(range(sum(len(server.devices) for server in servers)))
    return {
        "version": "1.0",
        "server_count": str(len(servers)),
        "server_list": [_server(server, ranks) for server in servers],
        "status": "completed",
    }


def _server(server: Server, ranks: Iterator[int]) -> dict[str, Any]:
    devices = [
        {"device_id": str(device), "device_ip": address, "rank_id": str(next(ranks))}
        for device, address in server.devices
    ]
    return {"server_id": server.id, "device": devices, "host_nic_ip": "reserve"}


def table_of_host(host: str, devices: Iterable[int], addresses: Mapping[int, str]) -> dict[str, Any]:
    """Raises KeyError for a device without an address."""
    return make_table([Server(id=host, devices=tuple((device, addresses[device]) for device in devices))])


def wrong(table: Any) -> list[str]:
    """Places in a table where it is not of the format: `server_list[0].device[1].rank_id`, or "" for all of it."""
    if not isinstance(table, dict):
        return [""]
    servers = table.get("server_list")
    if not isinstance(servers, list) or not servers:
        return ["server_list"]
    head = {"version": "1.0", "status": "completed", "server_count": str(len(servers))}
    places = [name for name, value in head.items() if table.get(name) != value]
    for index, server in enumerate(servers):
        places += _wrong_server(f"server_list[{index}]", server)
    return places or _wrong_together(servers)


def _wrong_server(prefix: str, server: Any) -> Iterator[str]:
    if not isinstance(server, dict):
        yield prefix
        return
    name, devices = server.get("server_id"), server.get("device")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_ID:
        yield f"{prefix}.server_id"
    if not isinstance(devices, list) or not devices:
        yield f"{prefix}.device"
        return
    for number, device in enumerate(devices):
        if not isinstance(device, dict):
            yield f"{prefix}.device[{number}]"
            continue
        yield from (
            f"{prefix}.device[{number}].{key}" for key in ("device_id", "rank_id") if not _counts(device.get(key))
        )
        if not is_address(device.get("device_ip")):
            yield f"{prefix}.device[{number}].device_ip"


def _counts(text: object) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdigit()


def _wrong_together(servers: list[dict[str, Any]]) -> list[str]:
    """What is right by itself, but there twice, or with a rank left out."""
    devices = [(server["server_id"], device) for server in servers for device in server["device"]]
    ranks = sorted(int(device["rank_id"]) for _, device in devices)
    unique = {
        "server_id": [server["server_id"] for server in servers],
        "device_id": [(server, device["device_id"]) for server, device in devices],
        "device_ip": [ipaddress.ip_address(device["device_ip"]) for _, device in devices],
    }
    twice = [name for name, values in unique.items() if max(Counter(values).values()) > 1]
    return twice + (["rank_id"] if ranks != list(range(len(ranks))) else [])
