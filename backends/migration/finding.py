"""An occurrence of the GPU stack in a project, and the finding that it is judged to be."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

FindingKind = Literal["place", "need", "advice"]
"""place: a use of the GPU stack; need: none, and still something to do, such as an API that an NPU refuses or a request
for GPUs to a cluster; advice: what may be slow or wrong. Totals count places and needs."""
FindingState = Literal["auto", "edit", "manual", "none", "unverified"]
Effort = Literal[0, 1, 3, 5, 7, 13]
STATES: tuple[FindingState, ...] = ("auto", "edit", "manual", "none", "unverified")


class Occurrence(msgspec.Struct, frozen=True, kw_only=True):
    """A use of the GPU stack that a parser saw in one file, not judged yet.

    `path`: relative to the project, with "/". `line`, `end`: from 1, of the notebook's cell where there is one.
    `column`, `end_column`: from 0, in characters of the first and of the last line. `name`: dotted and canonical,
    such as "torch.cuda.is_available" whatever the file calls it; for a string its value, with {} for what is filled
    in. `context`: how it is used, as "compare", "default", "choices", "key", "argument:device", "import", "getattr";
    empty for a plain use. `text`: its source, at most 200 characters. `args`: whatever else the texts of the rule
    and an edit need.
    """

    kind: FindingKind = "place"
    path: str
    line: int
    end: int
    column: int = 0
    end_column: int = 0
    cell: int | None = None
    category: str
    rule: str = ""
    name: str = ""
    context: str = ""
    text: str = ""
    args: dict[str, Any] = {}


class ScanFinding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """An occurrence with its meaning for an NPU; one object of findings.json.

    `state`: auto, works by itself under transfer_to_npu; edit, an edit is offered; manual, with a recipe; none, no
    support; unverified. `effort`: story points. `confidence` with `because`, a key under `rule_because`. `rule`: its
    texts are `rule.<rule>.title`, `.why` and `.todo`. `support`: yes, no or unverified per hardware (a2, a3, a950),
    if the tables know the API.
    """

    kind: FindingKind
    path: str
    line: int
    end: int
    column: int = 0
    end_column: int = 0
    cell: int | None = None
    category: str
    rule: str
    state: FindingState
    effort: Effort
    confidence: Literal["high", "medium", "low"] = "high"
    because: str = ""
    name: str = ""
    context: str = ""
    text: str = ""
    args: dict[str, Any] = {}
    support: dict[str, str] = {}
    mindspore: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether the totals count it."""
        return self.kind != "advice"
