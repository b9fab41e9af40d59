"""Facts about torch APIs, operators and libraries on an NPU, and where they are from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.scan.facts import kernels, support, tables, transfer
from backends.migration.scan.facts import libraries as known
from backends.migration.scan.facts.transfer import TransferCoverage
from studio import interpreters

if TYPE_CHECKING:
    from pathlib import Path

MAX_FILE_BYTES = 1 << 22
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
    transfer: TransferCoverage
    kernels: frozenset[str] | None = None
    packages: dict[str, str] = field(default_factory=dict)

    @property
    def basis_text(self) -> tuple[str, dict[str, str]]:
        """The sentence on where the answers are from: a key of the catalogue and its arguments."""
        key = "rule_facts.installed" if self.folder else "rule_facts.shipped"
        return key, {"version": self.version, "folder": self.folder, "table": self.table}

    @cached_property
    def fingerprint(self) -> str:
        """Changes with everything that an answer depends on, apart from the shipped tables themselves."""
        values = [self.version, self.folder, self.table, sorted(self.kernels or ()), sorted(self.packages.items())]
        return json.dumps(values) + repr(sorted(self.transfer.cuda)) + repr(sorted(self.transfer.device))

    def is_overlaid(self, name: str) -> bool:
        """Whether transfer_to_npu provides a name of torch.cuda."""
        return self.transfer.is_overlaid(name)

    def hardware_support(self, name: str) -> dict[str, str]:
        """yes, no or unverified for a2, a3 and a950."""
        return support.hardware_support(name, self.table)

    def is_module(self, name: str) -> bool:
        return support.is_module(name)

    def is_restricted(self, name: str) -> bool:
        return support.is_restricted(name, self.table)

    def documentation_link(self, name: str) -> str:
        """The page of the documentation that has the name, with its restrictions; empty where none has it."""
        return support.documentation_link(name, self.table)

    def npu_name(self, name: str) -> str:
        """Return the name of the NPU's own API where the documentation gives one, such as torch_npu.npu.set_device."""
        return support.npu_name(name, self.table)

    def aten_class(self, operator: str) -> str:
        """kernel, composite, fallback, maybe, none or unknown; see `kernels.kind`."""
        return kernels.kernel_kind(operator, self.kernels)

    def mindspore_name(self, name: str) -> str:
        """The MindSpore API for a torch API, with a "~" before it where the two are not consistent; often empty."""
        return tables.mindspore_names().get(name, "")

    def is_deprecated(self, name: str) -> bool:
        """Whether it is a deprecated name of torch_npu."""
        return name in tables.deprecated_names()

    def find_library(self, name: str) -> known.LibraryFacts | None:
        return known.find_library(name)


def facts_of_interpreter(interpreter: Path | None, version: str | None) -> Facts:
    """From the files of the torch_npu in the interpreter; from the shipped tables where it has none or where another
    version is asked for. Reads files, imports nothing, never raises."""
    packages = interpreters.packages(interpreter) if interpreter else {}
    for folder in interpreters.site_packages(interpreter) if interpreter else []:
        installed = _read_installed(folder)
        if installed and (version is None or _is_same_minor(version, installed["version"])):
            return Facts(
                **installed, folder=str(folder), table=support.nearest_version(installed["version"]), packages=packages
            )
    version_or_default = version or packages.get("torch-npu") or packages.get("torch") or ""
    shipped = transfer.shipped_coverage()
    table = support.nearest_version(version_or_default)
    return Facts(version=version_or_default or shipped.version, table=table, transfer=shipped, packages=packages)


def facts_of_project(project: Path, interpreter: Path, version: str) -> Facts:
    """For a project: those of `interpreter`, where it is Path() those of the first environment in the project that has
    torch, else the shipped ones. `version`: "" for that of the interpreter."""
    if interpreter.parts:
        return facts_of_interpreter(interpreter, version or None)
    environments = (path for path in interpreters.of_project(project) if _has_torch(path))
    return facts_of_interpreter(next(environments, None), version or None)


def _has_torch(interpreter: Path) -> bool:
    return any(name in interpreters.packages(interpreter) for name in ("torch", "torch-npu"))


def _is_same_minor(version: str, installed: str) -> bool:
    """2.7 is meant by 2.7.1, 2.13.0+cpu by 2.13.0.post1."""
    return version.split("+")[0].split(".")[:2] == installed.split(".")[:2]


def _read_installed(folder: Path) -> dict[str, Any] | None:
    """None where there is no torch_npu, or one that is laid out in another way."""
    try:
        coverage = transfer.parse_coverage(lambda name: _read_text(folder / name))
        operators = frozenset(
            operator
            for file in kernels.FILES
            for operator in kernels.parse_supported_operators(_read_text(folder / file))
        )
        transfer_coverage = msgspec.convert(coverage, TransferCoverage)
    except (OSError, ValueError, SyntaxError, LookupError, StopIteration, TypeError, AttributeError, RecursionError,
            MemoryError):  # fmt: skip
        return None
    return {"version": transfer_coverage.version, "transfer": transfer_coverage, "kernels": operators or None}


def _read_text(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(path)
    return data.decode("utf-8", "replace")
