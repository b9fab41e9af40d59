"""The address of the first node: a host name or an IP address, by which other nodes can reach it."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.spec import LaunchSpec

_HOST = re.compile(r"(?=.{1,253}\.?$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})*\.?")
_NUMBERS = re.compile(r"[0-9.]+")


def _master_is_an_address(spec: LaunchSpec) -> Iterable[Problem]:
    master = spec.parallel.master
    if master and not _is_address(master):
        yield Problem(field="master", rule="launch.rule.master_no_address", args={"master": master})
    elif master and spec.parallel.nodes > 1 and _is_of_every_host(master):
        yield Problem(field="master", rule="launch.rule.master_everywhere", args={"master": master})


def _is_address(text: str) -> bool:
    """Return whether a text is an IP address or may be the name of a host."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return _HOST.fullmatch(text) is not None and not _NUMBERS.fullmatch(text)
    return True


def _is_of_every_host(address: str) -> bool:
    """Return whether every host means itself by an address: another node would wait for itself."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address.lower().rstrip(".") in ("localhost", "localhost.localdomain", "ip6-localhost")
    return ip.is_loopback or ip.is_unspecified


RULES = (_master_is_an_address,)
