"""Run with torch: saves tensors of every kind into a folder, each beside what numpy makes of it."""

import sys
from pathlib import Path

import numpy as np

NAMES = [
    *("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool", "complex64", "complex128"),
    *("int8", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
]


def main(folder: Path) -> None:
    import torch  # tests import this module for its names alone

    torch.manual_seed(0)
    grid = torch.arange(24.0).reshape(4, 6)
    found = {name: (torch.randn(3, 5) * 4).to(getattr(torch, name)) for name in NAMES}
    found |= {
        "codes_e4m3fn": torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn),
        "codes_e5m2": torch.arange(256, dtype=torch.uint8).view(torch.float8_e5m2),
        "transposed": grid.t(),
        "strided": grid[1:, ::2],
        "expanded": grid[:1].expand(4, 6),
        "parameter": torch.nn.Parameter(grid),
        "scalar": torch.tensor(3.0),
        "empty": torch.empty(0, 3),
        "conjugate": torch.complex(grid, grid).conj(),
        "sparse": grid.to_sparse(),
        "legacy": grid,
        "old_bfloat16": grid.bfloat16() / 3,
    }
    for name, tensor in found.items():
        torch.save(tensor, folder / f"{name}.pt", _use_new_zipfile_serialization=not name.startswith(("legacy", "old")))
        plain = tensor.detach().to_dense().resolve_conj()
        is_wide = name.startswith(("bfloat16", "float8", "codes", "old"))
        np.save(folder / f"{name}.npy", (plain.float() if is_wide else plain).numpy())
    torch.save({"weight": grid}, folder / "several.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
