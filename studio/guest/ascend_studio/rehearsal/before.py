"""Preparations before a module of the script is imported."""

from __future__ import annotations

import importlib.machinery
import os
import re
import sys

from ascend_studio import hooks

if False:
    from typing import Any, Callable, Dict, List, Optional

# What torchvision's own Python names of its compiled library while it is imported.
_SCHEMAS = ("nms", "qnms")
_libraries: List[Any] = []


class Finder:
    """A finder that calls the preparation of a top-level module, and otherwise finds nothing."""

    def __init__(self, loaders: Dict[str, Callable[[str], Any]]) -> None:
        self.loaders = loaders

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        loader = self.loaders.get(name.partition(".")[0])
        return None if loader is None else hooks.guarded("rehearsal")(loader)(name)


def torchvision(name: str) -> None:
    """Let torchvision be imported: built for CUDA it cannot load its library beside a torch without it, and then misses
    operators that its Python describes. Their names alone let the rest of it work.
    """
    if name != "torchvision" or _libraries:
        return
    torch = sys.modules.get("torch") or __import__("torch")
    spec = importlib.machinery.PathFinder.find_spec(name)
    folder = os.path.dirname(spec.origin) if spec is not None and spec.origin else ""
    if not hasattr(torch._C, "_cuda_init") and _is_for_cuda(folder):
        from importlib import import_module

        library = import_module("torch.library").Library("torchvision", "DEF")
        for schema in _SCHEMAS:
            library.define(schema + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _libraries.append(library)  # what it defined goes with it


def _is_for_cuda(folder: str) -> bool:
    """Return whether an installed torchvision was built for CUDA, by its version.py."""
    try:
        with open(os.path.join(folder, "version.py"), encoding="utf-8") as file:
            return bool(re.search(r"^(__version__ = '[^']*\+cu|cuda = '\d)", file.read(), re.MULTILINE))
    except OSError:
        return False
