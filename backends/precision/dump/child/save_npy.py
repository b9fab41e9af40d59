"""Run by the user's own interpreter: reads a tensor with torch.load(weights_only=True) and writes it as .npy.

    save_npy.py <file of torch.save> <new .npy> <octets it may need>

Prints the dtype. Ends with 10 where torch is missing, 11 where the file holds more than a tensor.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

NO_TORCH = 10
NO_TENSOR = 11


def main(source: str, target: str, octets: int) -> int:
    try:
        torch = importlib.import_module("torch")
        numpy = importlib.import_module("numpy")
    except ImportError as error:
        sys.stderr.write(str(error))
        return NO_TORCH
    limit(octets)
    found = torch.load(source, map_location="cpu", weights_only=True)
    if not isinstance(found, torch.Tensor):
        sys.stderr.write(type(found).__name__)
        return NO_TENSOR
    tensor = plain(torch, found.detach())
    with Path(target).open("wb") as file:
        numpy.lib.format.write_array(file, tensor.numpy())
    sys.stdout.write(str(found.dtype).rpartition(".")[2])
    return 0


def plain(torch: Any, tensor: Any) -> Any:
    """numpy knows neither bfloat16 nor float8, nor what is sparse, quantized or conjugated."""
    if tensor.is_sparse or tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.resolve_conj().resolve_neg()
    try:
        tensor.numpy()
    except TypeError:
        tensor = tensor.to(torch.float32)
    return tensor.contiguous()


def limit(octets: int) -> None:
    """To what is mapped already, by torch, it may add so much."""
    import resource

    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + octets, mapped + octets))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
