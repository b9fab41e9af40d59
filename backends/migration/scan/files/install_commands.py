"""Packages that a command installs: pip, uv, conda, apt and their like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import gpu_names, requirements

if TYPE_CHECKING:
    from collections.abc import Generator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.files.scanned_text import ScannedText
    from backends.migration.scan.files.shell_lexer import ShellWord

PYTHON = re.compile(r"(?:.*/)?(?:pip[\d.]*|uv|uvx|conda|mamba|micromamba|poetry|pdm|\$\{?\w*(?:pip|PIP|CONDA)\w*\}?)\Z")
SYSTEM = re.compile(r"(?:apt|apt-get|aptitude|yum|dnf|zypper|apk|brew|pacman)\Z")
VERBS = frozenset({"install", "add", "create", "wheel", "download", "-S", "reinstall"})
_VALUED = """
-r --requirement -c --constraint -i --index-url --extra-index-url -f --find-links -t --target --channel -n --name -p
--prefix --python --index --config-settings -C --file --no-binary --only-binary --platform
"""
VALUED = frozenset(_VALUED.split())
SYSTEM_PACKAGE = re.compile(
    r"(?:cuda|lib(?:cuda|cudnn|nccl|nvidia|cublas|cusparse|cufft|curand|cusolver|nvinfer|nvjpeg|npp)|nvidia|cudnn|nccl)[\w.+:*=~${}-]*\Z"
)
ADDRESS = re.compile(r"(?:git\+|https?://)\S+")
TOOLKIT = re.compile(r"developer\.(?:download\.)?nvidia\.com/compute/|cuda[-_]keyring|cuda_\d+\.\d+")


def scan_install_command(
    source: ScannedText, words: list[ShellWord], category: str
) -> Generator[Occurrence, None, set[int]]:
    """Scan a command; returns the begins of the words that are packages, which need no other check."""
    packages: set[int] = set()
    verb = next((at for at, word in enumerate(words) if at and word.value in VERBS), None)
    if verb is None:
        yield from _scan_addresses(source, words, category, packages)
        return packages
    previous = [word.value for word in words[:verb]]
    if any(PYTHON.match(value) for value in previous):
        yield from _scan_python_packages(source, words[verb + 1 :], packages)
    elif any(SYSTEM.match(value) for value in previous):
        for word in words[verb + 1 :]:
            if SYSTEM_PACKAGE.match(word.value):
                packages.add(word.begin)
                yield source.occurrence(word.begin, word.end, category, name=word.value, context="package")
    return packages


def _scan_python_packages(
    source: ScannedText, words: list[ShellWord], packages: set[int]
) -> Generator[Occurrence, None, None]:
    """Scan the packages of pip and conda. A torch that is requested without CUDA does not count."""
    is_cpu_build = any("/whl/cpu" in word.value or word.value.endswith("+cpu") for word in words)
    for position, word in enumerate(words):
        previous = words[position - 1].value if position else ""
        if word.value.startswith("-") or previous in VALUED or not word.at:
            continue
        begin, end = word.span(0, len(word.value))
        packages.add(word.begin)
        yield from (
            occurrence
            for occurrence in requirements.scan_requirement(source, begin, end)
            if not (is_cpu_build and occurrence.category == "req_torch")
        )


def _scan_addresses(
    source: ScannedText, words: list[ShellWord], category: str, packages: set[int]
) -> Generator[Occurrence, None, None]:
    """Wheels that are fetched, repositories that are cloned; also as the value of a variable."""
    is_fetching = any(word.value.rsplit("/", 1)[-1] in ("wget", "curl", "git", "aria2c") for word in words[:3])
    for word in words:
        address = ADDRESS.search(word.value)
        if address is None or not (is_fetching or address[0].startswith("git+")):
            continue
        package = requirements.package_of_link(address[0])
        package_category = category if TOOLKIT.search(address[0]) else gpu_names.package_category(package)
        if package_category and package_category != "req_torch":
            packages.add(word.begin)
            begin, end = word.span(*address.span())
            yield source.occurrence(begin, end, package_category, name=package, context="address")
