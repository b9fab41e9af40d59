"""What each step of an optimizer did in the captured steps, beside msprobe's dump, which ends before it.

    <step>/<rank>/optimizer.json
        {"format": 2, "updates": [{"optimizer": "AdamW", "groups": [{"values": {"lr": 0.001, …}, "left_out": 0,
            "parameters": [
                {"name": "0.weight", "dtype": "float32", "size": 1048576, "sampled": 4096,
                 "before": [max, min, mean, norm], "gradient": […], "update": […], "gradient_sums": […],
                 "update_sums": […], "direction": […], "state": {"exp_avg": […]}}]}]}]}

The hyperparameters of each group are those that the step was taken with. A copy of all parameters would take the memory
of another model. So the figures are of `sampled` of a parameter's `size` elements, the same ones on every side; where
there are more, all of them take part in so many sums with signs that look random, each in one of them, whose figures
are `gradient_sums` and `update_sums`: a part that was updated otherwise shows there, wherever it lies. `direction`:
the figures of one number, the cosine of the sample of the update with that of the gradient. `left_out`:
parameters of the group of which nothing is recorded (beyond MAX_PARAMETERS, on no device, sparse, of whole numbers).
`state` is there where it was asked for.
"""

from __future__ import annotations

import json
import math
import os
import random

if False:
    from typing import Any, Dict, List, Tuple

FILE = "optimizer.json"
FORMAT = 2
SAMPLE = 4096
SMALLEST_SAMPLE = 256
# Elements that are kept of all parameters together, some 64 MB in float32, and as much for the sums.
ALL_SAMPLES = 1 << 24
MAX_PARAMETERS = ALL_SAMPLES // SMALLEST_SAMPLE
# So many elements have signs of their own; those behind them have the same, or all the opposite.
BLOCK = 1 << 20
SEED = 18
# How a step is computed, which does not change what is computed.
SWITCHES = ("params", "param_names", "foreach", "fused", "capturable", "differentiable", "initial_lr")
FIGURES = ("before", "gradient", "update", "gradient_sums", "update_sums", "direction")
# Around the module that a script has made.
WRAPPERS = ("module.", "_orig_mod.")


def sample_size(parameters: int) -> int:
    """Return how many elements are kept of each of so many parameters, a power of two."""
    room = ALL_SAMPLES // max(1, parameters)
    return max(SMALLEST_SAMPLE, min(SAMPLE, 1 << (max(1, room).bit_length() - 1)))


def positions(size: int, count: int) -> List[int]:
    """Return the elements that stand for all `size`: one in each of `count` parts, not at the same place of each, which
    in a matrix would be one column."""
    places = []
    for number in range(count):
        begin, end = number * size // count, (number + 1) * size // count
        places.append(begin + ((number * 40503) % 65536) * (end - begin) // 65536)
    return places


def signs() -> List[int]:
    """Return BLOCK signs, the same in every process."""
    bits = random.Random(SEED).getrandbits(BLOCK)
    return [1 if bit == "1" else -1 for bit in bin(bits)[2:].rjust(BLOCK, "0")]


def sign_of_block(number: int) -> int:
    """Return what the signs of a block of elements are multiplied with."""
    return 1 if bin(number * 40503).count("1") % 2 else -1


def write_updates(updates: List[Dict[str, Any]], folder: str) -> None:
    """Write what the optimizers did in a step beside its dump. Raises OSError."""
    if not updates:
        return
    path = os.path.join(folder, FILE)
    with open(path + ".tmp", "w") as file:
        json.dump({"format": FORMAT, "updates": updates}, file)
    os.replace(path + ".tmp", path)


def plain_name(name: str) -> str:
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "") if name.startswith(wrapper) else name.replace("." + wrapper, ".")
    return name


def values_of(group: Dict[str, Any]) -> Dict[str, Any]:
    """Return the hyperparameters of a group as plain values; a learning rate may be a tensor."""
    return {str(key): plain(value) for key, value in group.items() if key not in SWITCHES}


def plain(value: Any) -> Any:
    if isinstance(value, float):
        return finite(value)
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    try:
        return finite(float("%.7g" % float(value)))  # a tensor: without the digits that float32 adds
    except (TypeError, ValueError, RuntimeError):
        return type(value).__name__


def finite(number: float) -> Any:
    """Return a number, as a word where JSON has none for it."""
    if math.isfinite(number):
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def fill(groups: List[Dict[str, Any]], rows: List[List[float]]) -> None:
    """Put the figures in the place of their indices."""
    for group in groups:
        for parameter in group["parameters"]:
            for figures, key in _places(parameter):
                figures[key] = None if figures[key] is None else [finite(number) for number in rows[figures[key]]]


def _places(parameter: Dict[str, Any]) -> List[Tuple[Dict[str, Any], str]]:
    own = [(parameter, key) for key in FIGURES]
    return own + [(parameter["state"], key) for key in parameter["state"]]
