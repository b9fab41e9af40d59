"""Run by an interpreter with torch: reads tensors with torch.load(weights_only=True) and writes them as .npy.

    save_npy.py <bytes that it may need> < [[file of torch.save, new .npy], …] in JSON

Prints the number and the dtype of each that it could read; bfloat16 is written as its bits. Ends with 10
where torch is missing.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

NO_TORCH = 10


def main(max_bytes: int) -> int:
    try:
        torch = importlib.import_module("torch")
        numpy = importlib.import_module("numpy")
    except ImportError as error:
        sys.stderr.write(str(error))
        return NO_TORCH
    limit(max_bytes)
    for number, (source, target) in enumerate(json.load(sys.stdin)):
        try:
            dtype = save(torch, numpy, source, target)
        except Exception as error:
            sys.stderr.write(f"{number} {type(error).__name__}\n")
        else:
            sys.stdout.write(f"{number} {dtype}\n")
            sys.stdout.flush()
    return 0


def save(torch: Any, numpy: Any, source: str, target: str) -> str:
    loaded = torch.load(source, map_location="cpu", weights_only=True)
    if not isinstance(loaded, torch.Tensor):
        raise TypeError(type(loaded).__name__)
    tensor = plain(torch, loaded.detach())
    dtype = str(tensor.dtype).rpartition(".")[2]
    array = tensor.view(torch.int16).numpy().view("uint16") if dtype == "bfloat16" else tensor.numpy()
    with Path(target).open("wb") as file:
        numpy.lib.format.write_array(file, array)
    return dtype


def plain(torch: Any, tensor: Any) -> Any:
    """numpy knows nothing that is sparse, quantized or conjugated, nor some dtypes."""
    if tensor.is_sparse or tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.resolve_conj().resolve_neg().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor
    try:
        tensor.numpy()
    except TypeError:
        tensor = tensor.to(torch.float32)
    return tensor


def limit(max_bytes: int) -> None:
    """Limit the memory that it may add to what torch has mapped already."""
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + max_bytes, mapped + max_bytes))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
