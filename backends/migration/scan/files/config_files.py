"""Configuration files: YAML, JSON, TOML and INI, with the commands and requirements in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import config_settings, toml_parser, yaml_parser
from backends.migration.scan.files.bracket_parser import JSON_TOKEN, BracketParser
from backends.migration.scan.files.config_value import ConfigValue
from backends.migration.scan.files.scanned_text import ScannedText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.files.scanned_text import ShellScanner


INI_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
INI_SECTION = re.compile(r"\[([^\]]*)\]")
INI_KEY = re.compile(r"([^\s=:#;\[][^=:]*)[=:][ \t]*")
INI_COMMENT = re.compile(r"(?:\A|[ \t])[#;]")


def parse_ini(text: str) -> Iterator[ConfigValue]:
    """One value per line: an indented line goes on with the key above, as a value of its own."""
    at = 0
    section = key = ""
    while at < len(text) and (line := INI_LINE.match(text, at)):
        begin, end = _strip_comment(text, *line.span(1))
        section_match, key_match = INI_SECTION.match(text, begin, end), INI_KEY.match(text, begin, end)
        indented = begin > line.start() and key
        if section_match and not indented:
            section, key = section_match[1], ""
        elif indented and begin < end:
            yield ConfigValue((section, key), begin, end)
        elif key_match:
            key = key_match[1].strip()
            yield ConfigValue(
                (section, key), min(key_match.end(), end), end, key_match.start(1), key_match.start(1) + len(key)
            )
        at = line.end() if line.end() > at else len(text)


def _strip_comment(text: str, begin: int, end: int) -> tuple[int, int]:
    """A line without its comment and the blanks around."""
    comment = INI_COMMENT.search(text[begin:end])
    end = begin + comment.start() if comment else end
    line = text[begin:end]
    return begin + len(line) - len(line.lstrip()), max(
        begin + len(line.rstrip()), begin + len(line) - len(line.lstrip())
    )


MAX_JSON = 2_000_000
_NAMED = """
cuda nccl nvidia gpu torch flash fa2 fa3 triton apex xformers bitsandbytes nvcc cudnn cublas nvte vllm sglang mmcv
mmdet detectron tensorrt spconv cudf cuml cugraph liger unsloth mamba causal-conv nvml nvtx horovod gptq awq exllama
sageattention 8bit 32bit 4bit quantization_bit bnb megatron cupy kaolin minkowski transformer- transformer_ fla
linear-attention nsys nvprof ncu singularity apptainer /cu
"""
MENTIONS = (*_NAMED.split(), "${")  # the last gives a value that only the program knows


def parse_json(text: str) -> Iterator[ConfigValue]:
    """Also of JSON with comments. A larger file than `LARGEST_JSON` is data, not configuration."""
    if len(text) > MAX_JSON:
        return iter(())
    return BracketParser(text=text, at=0, keys=(), token=JSON_TOKEN).parse()


PARSERS: dict[str, Callable[[str], Iterator[ConfigValue]]] = {
    ".yaml": yaml_parser.parse_yaml,
    ".yml": yaml_parser.parse_yaml,
    ".json": parse_json,
    ".jsonc": parse_json,
    ".json5": parse_json,
    ".toml": toml_parser.parse_toml,
    ".ini": parse_ini,
    ".cfg": parse_ini,
    ".conf": parse_ini,
}


def scan_config(path: str, text: str, scan_shell: ShellScanner) -> Iterator[Occurrence]:
    """Scan a configuration file in the format of its ending; comments, descriptions and titles never count."""
    yield from scan_config_region(ScannedText(path, text), path, scan_shell)


def scan_config_region(
    source: ScannedText, name: str, scan_shell: ShellScanner, begin: int = 0, end: int | None = None
) -> Iterator[Occurrence]:
    """Scan text[begin:end], in the format that the ending of `name` says.

    `scan_shell`: the scanner of the commands in it, passed in since shell scripts hold configuration in turn.
    """
    parse = PARSERS.get("." + name.rsplit(".", 1)[-1].lower())
    if parse is None or not _mentions_gpu_stack(source.text):
        return
    previous = None
    for parsed in parse(source.text[begin:end]):
        value = parsed.shifted(begin)
        yield from config_settings.scan_setting(source, value, scan_shell, previous)
        previous = value


def _mentions_gpu_stack(text: str) -> bool:
    """Whether it names anything that a value could mean: most files name nothing, and data files are large."""
    lowered = text.lower()
    return any(word in lowered for word in MENTIONS)
