"""Makes the shipped tables of `assets/migration/` from the collected facts.

`python -m tests.contract.migration_tables FOLDER` reads the json files that `assets/migration/README.md` names.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from studio.paths import ASSETS

TABLES = ASSETS / "migration"
HARDWARE = ("Atlas A2 训练系列产品", "Atlas A3 训练系列产品", "Ascend 950DT")
LETTERS = {(True, True, True): "y", (True, True, False): "v", (True, False, False): "o", (False, False, False): "n"}
KINDS = {"class": "c", "function": "f", "member": "m"}
CLASSES = {
    "npu_native": "kernel", "structured_native": "kernel",
    "composite_implicit": "composite", "composite_explicit": "composite", "structured_composite_explicit": "composite",
    "cpu_fallback_or_error": "fallback", "structured_cpu_fallback_or_error": "maybe", "structured_unknown": "maybe",
    "no_cpu_kernel": "none",
}  # fmt: skip


OPERATOR = re.compile(r"torch\.((?P<space>Tensor|nn\.functional|special|linalg|fft)\.)?(?P<name>\w+)")
LONG = {
    "bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "fp64": "float64", "bool": "bool",
    **{name: name for name in ("uint8", "int8", "int16", "int32", "int64", "complex64", "complex128")},
}  # fmt: skip
DTYPE = re.compile("|".join(sorted(LONG, key=len, reverse=True)))
ONLY = re.compile(rf"`(input|self)`仅支持(?:(?:{DTYPE.pattern})[，,、 ]*)+")


def letter(row: dict[str, Any] | None) -> str:
    """One letter per version: see the table's first lines; a capital where the page names a restriction."""
    if row is None:
        return "."
    known = tuple(row["support"].get(name) for name in HARDWARE)
    found = LETTERS.get(known, "?")  # type: ignore[call-overload]
    return str(found.upper() if row.get("restriction") else found)


def apis(tables: dict[str, dict[str, Any]]) -> str:
    """The page of documentation, then its names: name, kind, a letter per version, the NPU's own name if another."""
    newest: dict[str, dict[str, Any]] = {}
    for table in tables.values():
        newest |= table
    lines = ["# versions " + " ".join(tables)]
    page = ""
    for name, row in sorted(newest.items(), key=lambda one: (one[1]["file"], one[0])):
        if row["file"] != page:
            page = row["file"]
            lines.append(f"@{page}")
        letters = "".join(letter(table.get(name)) for table in tables.values())
        lines.append("\t".join(filter(None, (name, KINDS[row["kind"]] + letters, row.get("npu_name", "")))))
    return "\n".join(lines) + "\n"


def operators(classes: dict[str, str]) -> str:
    """A line per class: its name, then its operators without "aten::"."""
    by_class: dict[str, list[str]] = {}
    for name, old in sorted(classes.items()):
        by_class.setdefault(CLASSES[old], []).append(name.removeprefix("aten::"))
    return "".join(f"{name}\t{' '.join(found)}\n" for name, found in sorted(by_class.items()))


def dtypes(table: dict[str, Any]) -> str:
    """A line per set of dtypes: the dtypes, then the operators whose documentation names them as what it takes alone.
    A function, a method and a function of torch.nn.functional of one name are one operator, with the dtypes of all."""
    found: dict[str, set[str]] = {}
    for name, row in table.items():
        match = OPERATOR.fullmatch(name)
        listed = ONLY.search(row.get("restriction") or "")
        if match is not None and listed is not None:
            operator = (match["space"] or "").replace("nn.functional", "").replace("Tensor", "").rstrip(".")
            full = f"{operator}_{match['name']}" if operator else match["name"]
            found.setdefault(full, set()).update(LONG[word] for word in DTYPE.findall(listed[0]))
    by_dtypes: dict[str, list[str]] = {}
    for operator, names in sorted(found.items()):
        by_dtypes.setdefault(" ".join(sorted(names)), []).append(operator)
    return "".join(f"{names}\t{' '.join(operators)}\n" for names, operators in sorted(by_dtypes.items()) if names)


def mindspore(rows: list[dict[str, Any]]) -> str:
    """torch name, MindSpore name, whether the page calls them consistent ("=") or not ("~")."""
    found = {(row["torch"], row["mindspore"][0], "=" if row["kind"] == "consistent" else "~") for row in rows}
    return "".join("\t".join(one) + "\n" for one in sorted(found))


def deprecated(rows: dict[str, list[str]]) -> str:
    return "".join(f"{module}.{name}\n" for module, names in sorted(rows.items()) for name in names)


def main(folder: Path) -> None:
    def read(name: str) -> Any:
        return json.loads((folder / name).read_text("utf-8"))

    made = {
        "torch_apis.tsv": apis(read("torch_native_api_support.json")),
        "aten.tsv": operators(read("aten_npu_class_torch2.13_wheel.json")),
        "aten_dtypes.tsv": dtypes(read("torch_native_api_support.json")["2.13.0"]),
        "mindspore.tsv": mindspore(read("mindspore_pytorch_api_mapping.json")),
        "deprecated.txt": deprecated(read("torch_npu_deprecated_apis.json")),
    }
    for name, text in made.items():
        (TABLES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
