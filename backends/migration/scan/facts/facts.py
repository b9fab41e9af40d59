"""What is known of torch APIs, operators and libraries on an NPU, and from where."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.scan.facts import kernels, support, tables, transfer
from backends.migration.scan.facts import libraries as known
from backends.migration.scan.facts.transfer import Transfer
from studio import interpreters

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 1 << 22
"""Bytes of a file of an installed torch_npu; the largest that is read has 250 kB."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """`version`: the torch_npu that the answers are about. `folder`: the site-packages with the torch_npu whose files
    were read, empty where only the shipped tables were. `table`: the version of the documentation's table. `kernels`:
    the operators that the installed torch_npu lists, None where the shipped table must do. `packages`: distributions
    of the chosen interpreter and their versions."""

    version: str
    folder: str = ""
    table: str
    transfer: Transfer
    kernels: frozenset[str] | None = None
    packages: dict[str, str] = field(default_factory=dict)

    @property
    def says(self) -> tuple[str, dict[str, str]]:
        """The sentence that tells where the answers are from: a key of the catalogue and what it needs."""
        key = "rule_facts.installed" if self.folder else "rule_facts.shipped"
        return key, {"version": self.version, "folder": self.folder, "table": self.table}

    @cached_property
    def fingerprint(self) -> str:
        """Changes with everything that an answer depends on, apart from the shipped tables themselves."""
        values = [self.version, self.folder, self.table, sorted(self.kernels or ()), sorted(self.packages.items())]
        return json.dumps(values) + repr(sorted(self.transfer.cuda)) + repr(sorted(self.transfer.device))

    def overlaid(self, name: str) -> bool:
        """Whether transfer_to_npu provides a name of torch.cuda."""
        return self.transfer.overlaid(name)

    def support(self, name: str) -> dict[str, str]:
        """yes, no or unverified for a2, a3 and a950."""
        return support.support(name, self.table)

    def is_module(self, name: str) -> bool:
        return support.is_module(name)

    def restricted(self, name: str) -> bool:
        return support.restricted(name, self.table)

    def link(self, name: str) -> str:
        """The page of the documentation that has the name, with its restrictions; empty where none has it."""
        return support.link(name, self.table)

    def own_name(self, name: str) -> str:
        """What the NPU calls it where the documentation says so, such as torch_npu.npu.set_device."""
        return support.own_name(name, self.table)

    def aten_class(self, operator: str) -> str:
        """kernel, composite, fallback, maybe, none or unknown; see `kernels.kind`."""
        return kernels.kind(operator, self.kernels)

    def mindspore(self, name: str) -> str:
        """The MindSpore API for a torch API, with a "~" before it where the two are not consistent; often empty."""
        return tables.mindspore().get(name, "")

    def deprecated(self, name: str) -> bool:
        """Of torch_npu's own names."""
        return name in tables.deprecated()

    def library(self, name: str) -> known.Library | None:
        return known.library(name)


def facts_for(interpreter: Path | None, version: str | None) -> Facts:
    """From the files of the torch_npu in the interpreter; from the shipped tables where it has none or where another
    version is asked for. Reads files, imports nothing, never raises."""
    packages = interpreters.packages(interpreter) if interpreter else {}
    for folder in interpreters.site_packages(interpreter) if interpreter else []:
        found = _installed(folder)
        if found and (version is None or _same(version, found["version"])):
            return Facts(**found, folder=str(folder), table=support.nearest(found["version"]), packages=packages)
    wanted = version or packages.get("torch-npu") or packages.get("torch") or ""
    shipped = transfer.shipped()
    table = support.nearest(wanted)
    return Facts(version=wanted or shipped.version, table=table, transfer=shipped, packages=packages)


def facts_in(project: Path, interpreter: Path, version: str) -> Facts:
    """For a project: those of `interpreter`, where it is Path() those of the first environment in the project that has
    torch, else the shipped ones. `version`: "" for that of the interpreter."""
    if interpreter.parts:
        return facts_for(interpreter, version or None)
    own = (path for path in interpreters.of_project(project) if _has_torch(path))
    return facts_for(next(own, None), version or None)


def _has_torch(interpreter: Path) -> bool:
    return any(name in interpreters.packages(interpreter) for name in ("torch", "torch-npu"))


def _same(wanted: str, there: str) -> bool:
    """2.7 is meant by 2.7.1, 2.13.0+cpu by 2.13.0.post1."""
    return wanted.split("+")[0].split(".")[:2] == there.split(".")[:2]


def _installed(folder: Path) -> dict[str, Any] | None:
    """None where there is no torch_npu, or one that is laid out in another way."""
    try:
        read = transfer.covered(lambda name: _text(folder / name))
        named = frozenset(one for file in kernels.FILES for one in kernels.supported(_text(folder / file)))
        covered = msgspec.convert(read, Transfer)
    except (OSError, ValueError, SyntaxError, LookupError, StopIteration, TypeError, AttributeError, RecursionError,
            MemoryError):  # fmt: skip
        return None
    return {"version": covered.version, "transfer": covered, "kernels": named or None}


def _text(path: Path) -> str:
    with path.open("rb") as file:
        read = file.read(LARGEST + 1)
    if len(read) > LARGEST:
        raise ValueError(path)
    return read.decode("utf-8", "replace")
