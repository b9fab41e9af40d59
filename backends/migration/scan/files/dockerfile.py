"""Dockerfiles and Containerfiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import command_scanner, embedded, gpu_names, requirements, shell
from backends.migration.scan.files.bracket_parser import JSON_TOKEN, BracketParser
from backends.migration.scan.files.scanned_text import ScannedText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence

INSTRUCTION = re.compile(r"[ \t]*([A-Za-z]+)[ \t]+")
LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
COMMENT = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z)")
CONTINUED = re.compile(r"\\[ \t]*\Z")
HEREDOC = re.compile(r"<<-?[\"']?([A-Za-z_]\w*)[\"']?")
FLAGS = re.compile(r"(?:--[\w-]+(?:=\S*)?\s+)+")
WORD = re.compile(r"[^\s\"'\\]+|\"[^\"]*\"|'[^']*'")
PAIR = re.compile(r"([A-Za-z_]\w*)(?:=|[ \t]+)")


def scan_dockerfile(path: str, text: str) -> Iterator[Occurrence]:
    source = ScannedText(path, text)
    for instruction, begin, end, body in _split_instructions(text):
        yield from _scan_instruction(source, instruction, begin, end)
        if body:
            is_python = re.search(r"python[\d.]*[^<\n]*<<", text[begin:end]) is not None
            yield from (
                embedded.scan_embedded_python(source, *body, shell.scan_python)
                if is_python
                else shell.scan_shell(source, *body, "docker_cuda")
            )


def _split_instructions(text: str) -> Iterator[tuple[str, int, int, tuple[int, int] | None]]:
    """Name, region of what follows, and the region of a here-document."""
    at = 0
    while at < len(text):
        head = INSTRUCTION.match(text, at)
        if head is None:
            line = LINE.match(text, at)
            at = line.end() if line and line.end() > at else len(text)
            continue
        end, at = _instruction_end(text, head.end())
        heredoc = HEREDOC.search(text, head.end(), end) if head[1].upper() in ("RUN", "COPY") else None
        body = None
        if heredoc and (close := re.compile(rf"^\t*{heredoc[1]}[ \t]*$", re.MULTILINE).search(text, at)):
            body, at = (at, close.start()), close.end()
        yield head[1].upper(), head.end(), end, body


def _instruction_end(text: str, at: int) -> tuple[int, int]:
    """Return the end of an instruction and the begin of the next line. Comment lines may lie between its lines."""
    while line := LINE.match(text, at):
        at = line.end()
        if not CONTINUED.search(line[1][-80:]) or at >= len(text):
            return line.end(1), at
        while at < len(text) and (comment := COMMENT.match(text, at)) and comment.end() > at:
            at = comment.end()
    return len(text), len(text)


def _scan_instruction(source: ScannedText, name: str, begin: int, end: int) -> Iterator[Occurrence]:
    if flags := FLAGS.match(source.text, begin, end):
        begin = flags.end()
    if name == "FROM":
        yield from _scan_image(source, begin, end)
    elif name in ("ENV", "ARG"):
        yield from _scan_variables(source, begin, end)
    elif name in ("RUN", "CMD", "ENTRYPOINT", "SHELL"):
        yield from _scan_command(source, begin, end)


def _scan_image(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    word = WORD.search(source.text, begin, end)
    if word and gpu_names.IMAGE.match(word[0]):
        yield source.occurrence(*word.span(), "docker_cuda", name=word[0], context="image")


def _scan_variables(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    """`ENV A=1 B=2` is read as shell assignments, `ENV A 1` is the old form."""
    pair = PAIR.match(source.text, begin, end)
    is_old_form = pair and not pair[0].endswith("=")
    if pair and is_old_form:
        if gpu_names.ENVIRONMENT.match(pair[1]):
            value = source.text[pair.end() : end]
            yield source.occurrence(*pair.span(1), "cuda_env", name=pair[1], context="env", args={"value": value})
        for path in gpu_names.TOOLKIT_PATH.finditer(source.text, pair.end(), end):
            yield source.occurrence(*path.span(), "docker_cuda", name=path[0], context="path")
        yield from requirements.scan_index_addresses(source, pair.end(), end)
        return
    yield from shell.scan_shell(source, begin, end, "docker_cuda")
    for word in re.compile(r"(?<==)[\"']?([^\s\"']+)").finditer(source.text, begin, end):
        if gpu_names.IMAGE.match(word[1]) and not gpu_names.CUDA_IMAGE.search(word[1]):
            yield source.occurrence(*word.span(1), "docker_cuda", name=word[1], context="image")


def _scan_command(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    """The shell form, or the exec form: a JSON list of words."""
    if not source.text.startswith("[", begin):
        yield from shell.scan_shell(source, begin, end, "docker_cuda")
        return
    values = list(BracketParser(text=source.text[:end], at=begin, keys=(), token=JSON_TOKEN).parse())
    for previous, value in zip([None, *values], values, strict=False):
        text = source.text[value.begin : value.end]
        flag = source.text[previous.begin : previous.end] if previous else ""
        category = command_scanner.value_category(text, flag, "docker_cuda")
        if " " in text or "=" in text:
            yield from shell.scan_shell(source, value.begin, value.end, "docker_cuda")
        elif text in command_scanner.MONITORS:
            yield source.occurrence(value.begin, value.end, "nvidia_smi", name=text, context="command")
        elif category:
            yield source.occurrence(value.begin, value.end, category, name=text, context=f"flag:{flag}")
