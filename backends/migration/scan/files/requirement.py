"""One requirement: a distribution's name and what it asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.files.source import Source

NAMED = re.compile(
    r"\s*(?:[\w./-]+::)?(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?P<extras>\[[^\]]*\])?\s*"
    r"(?P<asks>(?:[=<>!~^(@;*]|\Z|\s\d).*)",
    re.DOTALL,
)
LINKED = re.compile(r"(?:git\+|https?://|file:)\S+|[\w.-]+-\d\S*\.whl\Z", re.IGNORECASE)
EGG = re.compile(r"[#&]egg=([\w.-]+)")
WHEEL = re.compile(r"(?:\A|/)([A-Za-z0-9_.]+?)-\d[^/]*\.(?:whl|tar\.gz|zip)")
REPOSITORY = re.compile(r"/([\w.-]+?)(?:\.git)?(?:[@#?].*)?\Z")


def of_link(link: str) -> str:
    """The distribution that a wheel's or a repository's address stands for."""
    found = EGG.search(link) or WHEEL.search(link) or REPOSITORY.search(link)
    return names.normal(found[1]) if found else ""


def places(source: Source, begin: int, end: int) -> Iterator[Place]:
    """Of one requirement such as `torch>=2.1; python_version>"3.8"` or `pytorch=2.1` (conda) in text[begin:end]."""
    text = source.text[begin:end]
    linked, named = LINKED.match(text.strip()), NAMED.match(text)
    if linked:
        package, asks = of_link(linked[0]), linked[0]
    elif named:
        package, asks = names.normal(named["name"]), named["asks"].strip()
    else:
        return
    category = names.category_of(package)
    if category is None and named and "gpu" in (named["extras"] or ""):
        category = "req_cuda"
    if category is None and linked and re.search(r"\+cu1[0-3]\d?", asks):
        category = "req_cuda"
    if category:
        lead = len(text) - len(text.lstrip())
        yield source.place(
            begin + lead,
            begin + len(text.rstrip()),
            category,
            name=package,
            context="requirement",
            args={"asks": asks},
        )


def index_places(source: Source, begin: int, end: int) -> Iterator[Place]:
    """Addresses of package indexes that hold CUDA builds, such as …/whl/cu118."""
    for found in names.INDEX.finditer(source.text, begin, end):
        address = found[0].rstrip("\"'`,;)]}")
        yield source.place(found.start(), found.start() + len(address), "pip_index", name=address, context="index")
