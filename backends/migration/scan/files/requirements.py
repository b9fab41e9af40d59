"""Requirements: requirements.txt, constraints files, and single requirements in other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import gpu_names
from backends.migration.scan.files.scanned_text import ScannedText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence


NAMED = re.compile(
    r"\s*(?:[\w./-]+::)?(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?P<extras>\[[^\]]*\])?\s*"
    r"(?P<asks>(?:[=<>!~^(@;*]|\Z|\s\d).*)",
    re.DOTALL,
)
LINKED = re.compile(r"(?:git\+|https?://|file:)\S+|[\w.-]+-\d\S*\.whl\Z", re.IGNORECASE)
EGG = re.compile(r"[#&]egg=([\w.-]+)")
WHEEL = re.compile(r"(?:\A|/)([A-Za-z0-9_.]+?)-\d[^/]*\.(?:whl|tar\.gz|zip)")
REPOSITORY = re.compile(r"/([\w.-]+?)(?:\.git)?(?:[@#?].*)?\Z")


def package_of_link(link: str) -> str:
    """Return the distribution behind the address of a wheel or a repository."""
    match = EGG.search(link) or WHEEL.search(link) or REPOSITORY.search(link)
    return gpu_names.normalized_package(match[1]) if match else ""


def scan_requirement(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    """Scan one requirement such as `torch>=2.1; python_version>"3.8"` or `pytorch=2.1` (conda) in text[begin:end]."""
    text = source.text[begin:end]
    link, requirement = LINKED.match(text.strip()), NAMED.match(text)
    if link:
        package, version = package_of_link(link[0]), link[0]
    elif requirement:
        package, version = gpu_names.normalized_package(requirement["name"]), requirement["asks"].strip()
    else:
        return
    category = gpu_names.package_category(package)
    if category is None and requirement and "gpu" in (requirement["extras"] or ""):
        category = "req_cuda"
    if category is None and link and re.search(r"\+cu1[0-3]\d?", version):
        category = "req_cuda"
    if category:
        lead = len(text) - len(text.lstrip())
        yield source.occurrence(
            begin + lead,
            begin + len(text.rstrip()),
            category,
            name=package,
            context="requirement",
            args={"asks": version},
        )


def scan_index_addresses(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    """Addresses of package indexes that hold CUDA builds, such as …/whl/cu118."""
    for match in gpu_names.INDEX.finditer(source.text, begin, end):
        address = match[0].rstrip("\"'`,;)]}")
        yield source.occurrence(match.start(), match.start() + len(address), "pip_index", name=address, context="index")


LINE = re.compile(r"(?:[^\n\r\\]|\\(?:\r\n|.)?)+", re.DOTALL)
COMMENT = re.compile(r"(?:\A|\s)#[^\n\r]*|\s--(?:hash|global-option|config-settings)\b.*", re.DOTALL)
EDITABLE = re.compile(r"\s*(?:-e|--editable)[ =]\s*")


def scan_requirements(path: str, text: str) -> Iterator[Occurrence]:
    """Find torch, CUDA packages and GPU libraries, one occurrence per requirement, and indexes of CUDA builds."""
    source = ScannedText(path, text)
    for line in LINE.finditer(text):
        comment = COMMENT.search(line[0])
        end = line.start() + comment.start() if comment else line.end()
        yield from _scan_line(source, line.start(), end)


def _scan_line(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    text = source.text[begin:end]
    editable = EDITABLE.match(text)
    if text.lstrip().startswith("-") and not editable:
        yield from scan_index_addresses(source, begin, end)
    else:
        yield from scan_requirement(source, begin + (editable.end() if editable else 0), end)
