"""Support of each torch API on A2, A3 and 950 by the documentation; a table per torch version."""

from __future__ import annotations

from functools import lru_cache

from backends.migration.scan.facts.tables import FOLDER

HARDWARE = ("a2", "a3", "a950")
UNVERIFIED = dict.fromkeys(HARDWARE, "unverified")
# The tables answer for 950 with yes, or do not have it verified yet.
LETTERS = {
    "y": dict.fromkeys(HARDWARE, "yes"),
    "v": {"a2": "yes", "a3": "yes", "a950": "unverified"},
    "o": {"a2": "yes", "a3": "no", "a950": "unverified"},
    "n": {"a2": "no", "a3": "no", "a950": "unverified"},
}
# Where the documentation names the module that defines what everybody imports from another.
DOCUMENTED_AT = {
    "torch.amp.autocast": "torch.autocast",
    "torch.set_grad_enabled": "torch.autograd.grad_mode.set_grad_enabled",
    "torch.inference_mode": "torch.autograd.grad_mode.inference_mode",
    "torch.nn.Parameter": "torch.nn.parameter.Parameter",
    "torch.nn.Buffer": "torch.nn.parameter.Buffer",
}
PAGES = "https://github.com/Ascend/pytorch/blob/master/docs/zh/api/native_api"


@lru_cache(maxsize=1)
def _read_table() -> tuple[tuple[str, ...], dict[str, tuple[str, str, str]]]:
    """The versions, and name to (kind and letters, page, name of the NPU's own)."""
    lines = (FOLDER / "torch_apis.tsv").read_text("utf-8").splitlines()
    rows: dict[str, tuple[str, str, str]] = {}
    page = ""
    for line in lines[1:]:
        if line.startswith("@"):
            page = line[1:]
        else:
            name, letters, *own = line.split("\t")
            rows[name] = (letters, page, own[0] if own else "")
    return tuple(lines[0].split()[2:]), rows


def table_versions() -> tuple[str, ...]:
    return _read_table()[0]


def _find_row(name: str, version: str) -> tuple[str, str, str, str] | None:
    """Kind, letter, page, name of the NPU's own."""
    known_versions, rows = _read_table()
    row = rows.get(DOCUMENTED_AT.get(name, name))
    if row is None:
        return None
    letters, page, own = row
    return letters[0], letters[1 + known_versions.index(version)], page, own


def hardware_support(name: str, version: str) -> dict[str, str]:
    """yes, no or unverified per hardware; a name that the table does not have is unverified.

    A member that has a "no" while its class has a "yes" is unverified: the table refuses `torch.optim.Adam.step` and
    recommends `torch.optim.Adam`. The methods of a tensor are operators of their own.
    """
    row = _find_row(name, version)
    if row is None:
        return UNVERIFIED
    kind, letter, _, _ = row
    answers = LETTERS.get(letter.lower(), UNVERIFIED)
    if kind == "m" and answers["a2"] == "no" and not name.startswith("torch.Tensor."):
        owner = hardware_support(name.rpartition(".")[0], version)
        return UNVERIFIED if owner["a2"] == "yes" else answers
    return answers


@lru_cache(maxsize=1)
def _modules() -> frozenset[str]:
    rows = _read_table()[1]
    owners = {name.rpartition(".")[0] for name in rows}
    return frozenset(owners - rows.keys())


def is_module(name: str) -> bool:
    """Whether the table has names in it but no row of its own: it does not answer for torch.cuda as a whole."""
    return name in _modules()


def is_restricted(name: str, version: str) -> bool:
    """Whether the page names a restriction, of types or arguments."""
    row = _find_row(name, version)
    return row is not None and row[1].isupper()


def documentation_link(name: str, version: str) -> str:
    row = _find_row(name, version)
    return f"{PAGES}/pytorch_{version.replace('.', '-')}/{row[2]}" if row else ""


def npu_name(name: str, version: str) -> str:
    """Return the API that the page recommends instead, such as torch_npu.npu.set_device; often empty."""
    row = _find_row(name, version)
    return row[3] if row else ""


def nearest_version(version: str) -> str:
    """The version whose table is nearest; the newest where none is wanted or it is no number."""
    numbers = _numbers(version)
    if not numbers:
        return table_versions()[-1]
    return min(table_versions(), key=lambda candidate: abs(_sort_number(_numbers(candidate)) - _sort_number(numbers)))


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.partition("+")[0].split(".")[:3]
    return tuple(int(part) for part in parts if part.isascii() and part.isdigit() and len(part) < 4)


def _sort_number(parts: tuple[int, ...]) -> int:
    """Minor versions count before patches: 2.12.1 is nearer to 2.12.0 than to 2.13.0."""
    major, minor, patch = (*parts, 0, 0)[:3]
    return (major * 1000 + minor) * 1000 + patch
