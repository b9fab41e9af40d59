"""Configuration files: yaml, json, toml, ini; also what they hold of commands and requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.files import ini_values, settings, toml_values, yaml_values
from backends.migration.scan.files.flow import JSON_TOKEN, Reader
from backends.migration.scan.files.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends.migration.found import Place
    from backends.migration.scan.files.value import Value

LARGEST_JSON = 2_000_000
_NAMED = """
cuda nccl nvidia gpu torch flash fa2 fa3 triton apex xformers bitsandbytes nvcc cudnn cublas nvte vllm sglang mmcv mmdet
detectron tensorrt spconv cudf cuml cugraph liger unsloth mamba causal-conv nvml nvtx horovod gptq awq exllama
sageattention megatron cupy kaolin minkowski transformer- transformer_ fla linear-attention nsys nvprof ncu singularity
apptainer /cu
"""
WORTH = tuple(_NAMED.split())


def json_values(text: str) -> Iterator[Value]:
    """Also of JSON with comments. A larger file than `LARGEST_JSON` is data, not configuration."""
    if len(text) > LARGEST_JSON:
        return iter(())
    return Reader(text=text, at=0, keys=(), token=JSON_TOKEN).values()


READERS: dict[str, Callable[[str], Iterator[Value]]] = {
    ".yaml": yaml_values.values,
    ".yml": yaml_values.values,
    ".json": json_values,
    ".jsonc": json_values,
    ".json5": json_values,
    ".toml": toml_values.values,
    ".ini": ini_values.values,
    ".cfg": ini_values.values,
    ".conf": ini_values.values,
}


def places(path: str, text: str) -> Iterator[Place]:
    """By the file's ending; comments never count, nor what describes or names."""
    yield from read(Source(path, text), path)


def read(source: Source, name: str, begin: int = 0, end: int | None = None) -> Iterator[Place]:
    """Of text[begin:end], in the format that the ending of `name` says."""
    reader = READERS.get("." + name.rsplit(".", 1)[-1].lower())
    if reader is None or not _is_worth(source.text):
        return
    before = None
    for found in reader(source.text[begin:end]):
        value = found.moved(begin)
        yield from settings.places(source, value, before)
        before = value


def _is_worth(text: str) -> bool:
    """Whether it names anything that a value could mean: most files name nothing, and data files are large."""
    low = text.lower()
    return any(word in low for word in WORTH)
