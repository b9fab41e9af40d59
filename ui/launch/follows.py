"""What follows from the choices of the launch form, a sentence for each that is worth one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.recipes import workers
from studio.texts import t
from ui.device import cards

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec

MODES = {"pynative": "launch.mode_pynative", "jit": "launch.mode_jit", "graph": "launch.mode_graph"}
DTYPES = {"fp16": "launch.amp_fp16", "bf16": "launch.amp_bf16"}
LOOPS = {"cell": "launch.loop_cell", "model": "launch.loop_model"}
PARALLEL = {
    "data": "launch.parallel_data", "semi_auto": "launch.parallel_semi_auto", "auto": "launch.parallel_auto",
    "hybrid": "launch.parallel_hybrid",
}  # fmt: skip


def follows(spec: LaunchSpec) -> list[str]:
    """Usual choices are not talked about; the mode always is."""
    how, said = spec.how, [t(MODES[spec.how.mode])]
    if how.loop in LOOPS:
        said.append(t(LOOPS[how.loop]))
    if how.loop == "model" and how.sink:
        said.append(t("launch.sink_on"))
    if spec.precision.amp != "O0":
        said.append(t(DTYPES[spec.precision.amp_dtype]))
    if how.recompute:
        said.append(t("launch.recompute_on"))
    if spec.parallel.parallel in PARALLEL:
        said.append(_together(spec))
    if spec.debug.debug_port is not None:
        said.append(t("launch.debugger_first", port=spec.debug.debug_port))
    return said


def _together(spec: LaunchSpec) -> str:
    """Only data parallel also runs on a CPU."""
    text = t(PARALLEL[spec.parallel.parallel], count=workers(spec))
    if spec.parallel.parallel != "data" and not cards():
        return t("launch.needs_npus", text=text)
    return text
