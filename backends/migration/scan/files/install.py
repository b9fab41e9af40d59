"""Packages that a command installs: pip, uv, conda, apt and their like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import names, requirement

if TYPE_CHECKING:
    from collections.abc import Generator

    from backends.migration.found import Place
    from backends.migration.scan.files.source import Source
    from backends.migration.scan.files.words import Word

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


def places(source: Source, words: list[Word], category: str) -> Generator[Place, None, set[int]]:
    """Gives back where the words begin that are packages, for which nothing else is to be said."""
    done: set[int] = set()
    verb = next((at for at, word in enumerate(words) if at and word.value in VERBS), None)
    if verb is None:
        yield from _addresses(source, words, category, done)
        return done
    before = [word.value for word in words[:verb]]
    if any(PYTHON.match(value) for value in before):
        yield from _python(source, words[verb + 1 :], done)
    elif any(SYSTEM.match(value) for value in before):
        for word in words[verb + 1 :]:
            if SYSTEM_PACKAGE.match(word.value):
                done.add(word.begin)
                yield source.place(word.begin, word.end, category, name=word.value, context="package")
    return done


def _python(source: Source, words: list[Word], done: set[int]) -> Generator[Place, None, None]:
    """A build of torch that is asked for without CUDA says nothing."""
    cpu = any("/whl/cpu" in word.value or word.value.endswith("+cpu") for word in words)
    for position, word in enumerate(words):
        before = words[position - 1].value if position else ""
        if word.value.startswith("-") or before in VALUED or not word.at:
            continue
        begin, end = word.span(0, len(word.value))
        done.add(word.begin)
        yield from (
            place for place in requirement.places(source, begin, end) if not (cpu and place.category == "req_torch")
        )


def _addresses(source: Source, words: list[Word], category: str, done: set[int]) -> Generator[Place, None, None]:
    """Wheels that are fetched, repositories that are cloned; also as the value of a variable."""
    fetched = any(word.value.rsplit("/", 1)[-1] in ("wget", "curl", "git", "aria2c") for word in words[:3])
    for word in words:
        address = ADDRESS.search(word.value)
        if address is None or not (fetched or address[0].startswith("git+")):
            continue
        package = requirement.of_link(address[0])
        named = category if TOOLKIT.search(address[0]) else names.category_of(package)
        if named and named != "req_torch":
            done.add(word.begin)
            begin, end = word.span(*address.span())
            yield source.place(begin, end, named, name=package, context="address")
