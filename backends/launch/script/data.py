"""The data of a script: small files lie within it, so that it runs in another folder and on another host; its head
names those that are too large."""

from __future__ import annotations

import base64
import os
import textwrap
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from studio import paths
from studio.errors import from_os

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.spec import LaunchSpec

LIMIT = 4_000_000
"""Bytes of files that a script may carry."""
TEXTS = (".md", ".txt")
EXAMPLES = ("lora/examples.jsonl",)
DIGITS = ("digits/digits.bin", "digits/labels.bin")
WIDTH = 110
END = 'if __name__ == "__main__":\n'
UNPACK = '''
def unpack(data, folder):
    """Write the files that lie within this script."""
    for name, text in data.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zlib.decompress(base64.b85decode("".join(text.split()))))

'''
IMPORTS = ("atexit", "base64", "shutil", "tempfile", "zlib")


@dataclass(frozen=True, kw_only=True)
class Data:
    """`constant` names the folder in the code. `files`: names in it; empty where the folder is too large to carry."""

    constant: str
    folder: Path
    files: tuple[str, ...]


def data_of(spec: LaunchSpec, corpus: Path) -> Data | None:
    """What a recipe reads of a folder. Raises StudioError where that cannot be read."""
    if spec.what.recipe == "digits":
        return Data(constant="ASSETS", folder=paths.ASSETS, files=DIGITS)
    if spec.what.recipe == "lora" and spec.what.examples == Path():
        return Data(constant="ASSETS", folder=paths.ASSETS, files=EXAMPLES)
    if spec.what.recipe == "text":
        return Data(constant="CORPUS", folder=corpus, files=_small_texts(corpus))
    return None


def _small_texts(folder: Path) -> tuple[str, ...]:
    try:
        names = tuple(sorted(_texts(folder)))
        total = sum((folder / name).stat().st_size for name in names)
    except OSError as error:
        raise from_os(error, folder) from error
    return names if total <= LIMIT else ()


def _texts(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            if name.lower().endswith(TEXTS) and path.is_file():
                yield str(path.relative_to(folder))


def needed_paths(spec: LaunchSpec, data: Data | None) -> tuple[Path, ...]:
    """What a script reads that does not lie within it."""
    named = [spec.what.weights, spec.what.images, spec.what.base_model, spec.what.examples]
    outside = [] if data is None or data.files else [data.folder]
    return tuple(path for path in (*outside, *named) if path != Path())


def with_data(code: str, data: Data | None) -> str:
    """Return the code with the files in it, unpacked into a folder of the run's own. Raises StudioError."""
    if data is None or not data.files:
        return code
    lines = code.split("\n")
    place = next((number for number, line in enumerate(lines) if line.startswith(f"{data.constant} = Path(")), None)
    if place is None:
        return code
    lines[place] = f'{data.constant} = Path(tempfile.mkdtemp(prefix="train-"))  # holds the data below while this runs'
    start = f"{END}    atexit.register(shutil.rmtree, {data.constant}, True)\n    unpack(DATA, {data.constant})\n"
    body = "\n".join(lines).replace(END, f"{UNPACK}\n{_literal(data)}\n\n{start}")
    missing = [name for name in IMPORTS if f"import {name}" not in lines]
    return "".join(f"import {name}\n" for name in missing) + body


def _literal(data: Data) -> str:
    """The files as Python: zlib and base 85, in lines."""
    rows = ["# The data: each file compressed by zlib, in base 85.", "DATA = {"]
    for name in data.files:
        rows += [f"    {name!r}: r'''", *textwrap.wrap(_packed(data.folder / name), WIDTH), "''',"]
    return "\n".join((*rows, "}"))


def _packed(path: Path) -> str:
    try:
        return base64.b85encode(zlib.compress(path.read_bytes(), 9)).decode("ascii")
    except OSError as error:
        raise from_os(error, path) from error
