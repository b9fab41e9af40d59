"""Dockerfiles and Containerfiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import commands, embedded, names, requirement, shell
from backends.migration.scan.files.flow import JSON_TOKEN, Reader
from backends.migration.scan.files.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+")
LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
COMMENT = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z)")
CONTINUED = re.compile(r"\\[ \t]*\Z")
HERE = re.compile(r"<<-?[\"']?([A-Za-z_]\w*)[\"']?")
FLAGS = re.compile(r"(?:--[\w-]+(?:=\S*)?\s+)+")
WORD = re.compile(r"[^\s\"'\\]+|\"[^\"]*\"|'[^']*'")
PAIR = re.compile(r"([A-Za-z_]\w*)(?:=|[ \t]+)")


def places(path: str, text: str) -> Iterator[Place]:
    source = Source(path, text)
    for instruction, begin, end, body in _instructions(text):
        yield from _instruction(source, instruction, begin, end)
        if body:
            python = re.search(r"python[\d.]*[^<\n]*<<", text[begin:end]) is not None
            yield from embedded.python(source, *body) if python else shell.read(source, *body, "docker_cuda")


def _instructions(text: str) -> Iterator[tuple[str, int, int, tuple[int, int] | None]]:
    """Name, region of what follows, and the region of a here-document."""
    at = 0
    while at < len(text):
        head = INSTRUCTION.match(text, at)
        if head is None:
            line = LINE.match(text, at)
            at = line.end() if line and line.end() > at else len(text)
            continue
        end, at = _whole(text, head.end())
        here = HERE.search(text, head.end(), end) if head[1].upper() in ("RUN", "COPY") else None
        body = None
        if here and (close := re.compile(rf"^\t*{here[1]}[ \t]*$", re.MULTILINE).search(text, at)):
            body, at = (at, close.start()), close.end()
        yield head[1].upper(), head.end(), end, body


def _whole(text: str, at: int) -> tuple[int, int]:
    """Where an instruction ends, and where the next line begins. Comment lines may stand between its lines."""
    while line := LINE.match(text, at):
        at = line.end()
        if not CONTINUED.search(line[1][-80:]) or at >= len(text):
            return line.end(1), at
        while at < len(text) and (comment := COMMENT.match(text, at)) and comment.end() > at:
            at = comment.end()
    return len(text), len(text)


def _instruction(source: Source, name: str, begin: int, end: int) -> Iterator[Place]:
    if flags := FLAGS.match(source.text, begin, end):
        begin = flags.end()
    if name == "FROM":
        yield from _image(source, begin, end)
    elif name in ("ENV", "ARG"):
        yield from _variables(source, begin, end)
    elif name in ("RUN", "CMD", "ENTRYPOINT", "SHELL"):
        yield from _command(source, begin, end)


def _image(source: Source, begin: int, end: int) -> Iterator[Place]:
    word = WORD.search(source.text, begin, end)
    if word and names.IMAGE.match(word[0]):
        yield source.place(*word.span(), "docker_cuda", name=word[0], context="image")


def _variables(source: Source, begin: int, end: int) -> Iterator[Place]:
    """`ENV A=1 B=2` is read as shell assignments, `ENV A 1` is the old form."""
    pair = PAIR.match(source.text, begin, end)
    old = pair and not pair[0].endswith("=")
    if pair and old:
        if names.ENVIRONMENT.match(pair[1]):
            value = source.text[pair.end() : end]
            yield source.place(*pair.span(1), "cuda_env", name=pair[1], context="env", args={"value": value})
        for path in names.TOOLKIT_PATH.finditer(source.text, pair.end(), end):
            yield source.place(*path.span(), "docker_cuda", name=path[0], context="path")
        yield from requirement.index_places(source, pair.end(), end)
        return
    yield from shell.read(source, begin, end, "docker_cuda")
    for word in re.compile(r"(?<==)[\"']?([^\s\"']+)").finditer(source.text, begin, end):
        if names.IMAGE.match(word[1]) and not names.CUDA_IMAGE.search(word[1]):
            yield source.place(*word.span(1), "docker_cuda", name=word[1], context="image")


def _command(source: Source, begin: int, end: int) -> Iterator[Place]:
    """The shell form, or the exec form: a JSON list of words."""
    if not source.text.startswith("[", begin):
        yield from shell.read(source, begin, end, "docker_cuda")
        return
    values = list(Reader(text=source.text[:end], at=begin, keys=(), token=JSON_TOKEN).values())
    for before, value in zip([None, *values], values, strict=False):
        text = source.text[value.begin : value.end]
        flag = source.text[before.begin : before.end] if before else ""
        category = commands.value_category(text, flag, "docker_cuda")
        if " " in text or "=" in text:
            yield from shell.read(source, value.begin, value.end, "docker_cuda")
        elif text in commands.MONITORS:
            yield source.place(value.begin, value.end, "nvidia_smi", name=text, context="command")
        elif category:
            yield source.place(value.begin, value.end, category, name=text, context=f"flag:{flag}")
