"""Run by the user's own interpreter: reads a checkpoint with torch.load(weights_only=True) and writes its tensors as
safetensors, which the studio reads itself.

    save_weights.py <file of torch.save> <new .safetensors> <bytes it may need>

Ends with 10 where torch is missing, 11 where the file holds no tensors, 12 where two have one name, 13 where it holds
arrays of numpy and torch is too old to be told how to read them. Numbers and texts are kept in the header, each with
whether it is a number beside tensors (see weights/plain_values.py).

Arrays of numpy are read by stand-ins for what they are written with: numpy's own functions believe a file's word about
the type of its elements, and one that says that bytes are objects could run code.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_TORCH = 10
NO_TENSORS = 11
TWICE = 12
OLD_TORCH = 13
MAX_TEXT = 200
EXTRA_STATE = "_extra_state"
MAX_VALUES = 1 << 16
DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "complex64": "C64",
    "bool": "BOOL",
}
NUMERIC = re.compile(r"b1|[iu][1248]|f[248]|c8|c16")
BYTE_ORDERS = ("<", ">", "=", "|")


class Dtype:
    """Stands for numpy.dtype: a name such as f4 and a byte order, and nothing that a file may make of it."""

    def __init__(self, name: Any = "", *_: Any) -> None:
        self.name, self.order = str(name), "="

    def __setstate__(self, state: Any) -> None:
        self.order = str(state[1]) if state[1] in BYTE_ORDERS else "="


class Array:
    """Stands for numpy.ndarray. `data`: bytes, of objects a list."""

    def __init__(self, *_: Any) -> None:
        self.shape: Any = ()
        self.dtype = Dtype()
        self.data: Any = b""
        self.is_fortran = False

    def __setstate__(self, state: Any) -> None:
        _, self.shape, self.dtype, self.is_fortran, self.data = state


def array(*_: Any) -> Array:
    return Array()


def no_bytes() -> bytes:
    """Stands for bytes(), as the data of an empty array is written."""
    return b""


def scalar(dtype: Any, data: Any = b"") -> Any:
    return plain_array((), dtype, False, data).item() if NUMERIC.fullmatch(dtype.name) else text_of(dtype, (), data)


def plain_array(shape: Any, dtype: Any, is_fortran: Any, data: Any) -> Any:
    numpy = importlib.import_module("numpy")
    kind = numpy.dtype(("" if dtype.order == "|" else dtype.order) + dtype.name)
    content = numpy.frombuffer(data, kind) if data else numpy.zeros(0, kind)
    return content.reshape(shape, order="F" if is_fortran else "C").astype(kind.newbyteorder("="), order="C")


def text_of(dtype: Any, shape: Any, data: Any) -> str:
    """Return what stands for elements that are no numbers, or of a type that torch lacks."""
    return f"{dtype.name} {list(shape)} {hashlib.sha256(bytes(data)).hexdigest()[:16]}"


def stand_ins() -> list[tuple[Any, str]]:
    modules = ("numpy.core.multiarray", "numpy._core.multiarray")
    functions = {"_reconstruct": array, "scalar": scalar}
    named: list[tuple[Any, str]] = [
        (function, f"{module}.{name}") for module in modules for name, function in functions.items()
    ]
    named += [(no_bytes, name) for name in ("bytes", "builtins.bytes", "__builtin__.bytes")]
    return [*named, (Array, "numpy.ndarray"), (Dtype, "numpy.dtype")]


def load(torch: Any, source: str) -> Any:
    """Raises what torch.load does, and NotImplementedError where this torch takes no stand-ins."""
    try:
        return torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # of a class whose module would be imported for that alone
        if "numpy" not in str(error):
            raise
    try:
        torch.serialization.add_safe_globals(stand_ins())
        content = torch.load(source, map_location="cpu", weights_only=True)
    except (AttributeError, TypeError) as error:  # before torch 2.6
        raise NotImplementedError from error
    return content


def without_stand_ins(torch: Any, value: Any) -> Any:
    """Return a content with tensors, lists and texts in the place of numpy's arrays."""
    if isinstance(value, dict):
        return {key: without_stand_ins(torch, entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_stand_ins(torch, entry) for entry in value]
    if not isinstance(value, Array):
        return value
    if isinstance(value.data, list):
        return without_stand_ins(torch, value.data)
    if not NUMERIC.fullmatch(value.dtype.name):
        return text_of(value.dtype, value.shape, value.data)
    return torch.from_numpy(plain_array(value.shape, value.dtype, value.is_fortran, value.data))


def main(source: str, target: str, max_bytes: int) -> int:
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        sys.stderr.write(str(error))
        return NO_TORCH
    limit(max_bytes)
    try:
        content = without_stand_ins(torch, load(torch, source))
    except NotImplementedError:
        return OLD_TORCH
    by_name = {}
    for name, tensor in tensors(torch, content, ""):
        if name in by_name:
            sys.stderr.write(name)
            return TWICE
        by_name[name] = tensor
    if not by_name:
        return NO_TENSORS
    write(torch, by_name, dict(islice(values(torch, content, "", False), MAX_VALUES + 1)), target)
    return 0


def values(torch: Any, value: Any, name: str, is_in_model: bool) -> Iterator[tuple[str, tuple[str | None, bool]]]:
    """Yield what is no tensor as a text, and whether it is beside tensors and no text; None where nothing
    here can tell its content."""
    if isinstance(value, dict):
        is_in_extra = is_in_model and EXTRA_STATE in name
        is_in_model = is_in_extra or any(isinstance(entry, torch.Tensor) for entry in value.values())
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, entry in pairs:
        yield from values(torch, entry, f"{name}.{key}" if name else str(key), is_in_model)
    if value is None or isinstance(value, (bool, int, float, complex)):
        yield name, (repr(value), is_in_model)
    elif isinstance(value, (bytes, bytearray)):
        yield name, (f"{len(value)} bytes, sha256 {hashlib.sha256(value).hexdigest()[:16]}", is_in_model)
    elif isinstance(value, (set, frozenset)):
        yield name, (repr(sorted(value, key=repr)), is_in_model)
    elif isinstance(value, str):
        yield name, (value[:MAX_TEXT], False)
    elif isinstance(value, (torch.dtype, torch.device)):
        yield name, (str(value), False)
    elif not isinstance(value, (dict, list, tuple, torch.Tensor)):
        yield name, (None, is_in_model)


def tensors(torch: Any, value: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, torch.Tensor):
        yield name, plain(torch, value.detach())
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, entry in pairs:
        yield from tensors(torch, entry, f"{name}.{key}" if name else str(key))


def plain(torch: Any, tensor: Any) -> Any:
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.dtype == torch.complex128:
        tensor = torch.view_as_real(tensor)
    if str(tensor.dtype).rpartition(".")[2] not in DTYPES:
        tensor = tensor.to(torch.float32)
    return tensor.contiguous()


def write(torch: Any, by_name: dict[str, Any], plain_values: dict[str, Any], target: str) -> None:
    header: dict[str, Any] = {"__metadata__": {"values": json.dumps(plain_values)}}
    end = 0
    for name, tensor in by_name.items():
        begin, end = end, end + tensor.numel() * tensor.element_size()
        dtype = DTYPES[str(tensor.dtype).rpartition(".")[2]]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with Path(target).open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in by_name.values():
            file.write(memoryview(tensor.reshape(-1).view(torch.uint8).numpy()))


def limit(max_bytes: int) -> None:
    """Limit the memory that it may add to what torch has mapped already."""
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + max_bytes, mapped + max_bytes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
