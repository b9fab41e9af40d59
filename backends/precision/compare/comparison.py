"""The result of a comparison: columns that the window maps, and the first divergence."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from studio import files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from studio.run import Run

FOLDER = "artifacts/comparison"
ANSWER_FILE = "answer.json"

EQUAL, EXPLAINED, FOLLOWS, DIFFERS, FIRST, MISSING, EXTRA, UNKNOWN = range(8)
"""Verdicts of rows and of calls. EQUAL: nothing differs, as far as the dump tells. EXPLAINED: within what inputs,
dtype and the noise explain. FOLLOWS: more than noise, but its inputs differ already and explain it. DIFFERS: more than
its inputs explain, and not the first of its pass. FIRST: the first divergence. MISSING: the target has no such call;
EXTRA: the golden side has none. UNKNOWN: nothing to compare (no statistics)."""
VERDICTS = ("equal", "explained", "follows", "differs", "first", "missing", "extra", "unknown")

MEASURES = ("max_abs", "max_rel", "mean_abs", "mean_rel", "l2_rel", "cosine", "ulp", "under_1e3", "under_5e3")
"""Columns of `Comparison.measures`, of rows whose tensors both sides have; formulas: measure/measures.py."""

NO_RESULT, PASS, WARNING, ERROR = range(4)
"""msprobe's own Result."""

Where = Literal["input", "output", "argument", "missing", "extra"]
Suspect = Literal["operator", "untraced", "argument", "parameter", "data", "program", "graph", "optimizer", "noise"]
Outcome = Literal["pass", "differs", "incomplete"]

CHOSEN = "precision.compare.chosen_passes"
"""The note that steps or ranks were left out because others were asked for."""
GAPS = frozenset(
    (
        "precision.dump.no_target", "precision.dump.no_golden", "precision.dump.stack_damaged",
        "precision.dump.optimizer_damaged", "precision.dump.optimizer_partial", "precision.dump.optimizer_unclear",
        "precision.dump.construct_damaged", "precision.compare.damaged_dump", "precision.compare.cut_dump",
        "precision.compare.unread_values", "precision.compare.no_stacks", "precision.compare.absent_dumps",
        "precision.compare.one_direction", "precision.compare.other_program",
        "precision.compare.both_nan", "precision.compare.both_infinite", "precision.compare.no_figures",
        "precision.compare.partial_figures", "precision.compare.one_sided_results",
        "precision.compare.no_results",
        "precision.compare.optimizer_alone", "precision.compare.absent_records",
        "precision.compare.tensors_failed", "precision.compare.tensors_need_torch", "precision.compare.tensors_beyond",
    )
)  # fmt: skip
"""Notes that say that something is there and was not compared: with one of them nothing passes."""


@dataclass(frozen=True, kw_only=True)
class First:
    """The first divergence. `reason`: a key under `precision.first`, its sentence takes `args`; the other fields are
    those of the command line's JSON. `call`: its index in Comparison; `row`: of Comparison, -1 without; `before`: how
    many calls before it do not differ; `likely`: the source line of what was probably not traced, or of the call,
    as "model.py:88"."""

    name: str
    direction: Literal["forward", "backward"]
    place: Where
    index: int
    step: int
    rank: int
    reason: str
    source: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    call: int = -1
    row: int = -1
    before: int = 0


SUSPECTS: dict[str, Suspect] = {
    "output": "operator", "random": "operator", "output_cast": "operator", "gradient": "operator", "shape": "operator",
    "input_untraced": "untraced", "input_by_other": "untraced", "input_by_extra": "untraced",
    "input_by_missing": "untraced", "input_cast": "untraced", "gradient_input": "untraced", "argument": "argument",
    "parameter": "parameter", "data": "data", "missing": "program", "extra": "program", "replaced": "program",
    "moved": "program", "needs_grad": "graph", "detached": "graph", "not_detached": "graph",
    "routing": "noise", "routing_likely": "noise",
}  # fmt: skip
"""What is to be looked at first, by the reason of a divergence."""
BY_OPTIMIZER = "optimizer_"
"""What the reasons of a divergence in the optimizer begin with."""


def suspect_of(first: First) -> Suspect:
    """Return what is to be looked at: the operator itself, what feeds it untraced, or something else. A NaN or infinity
    that comes in is not of the operator."""
    if first.reason.startswith(BY_OPTIMIZER):
        return "optimizer"
    of_place: Suspect = "operator" if first.place == "output" else "untraced"
    return SUSPECTS.get(first.reason, of_place)


@dataclass(frozen=True, kw_only=True)
class Pass:
    """One step of one rank of both sides: calls and rows from `first_call` and `first_row` on, to the next pass's.
    `target` and `golden`: the folders, None where that side has no such step or rank."""

    step: int
    rank: int
    target: Path | None
    golden: Path | None
    first_call: int
    first_row: int


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What was compared, of what was there. Calls and values of the steps and ranks that both sides have: `calls` that
    are on both sides, `values` (tensors) that have figures on both. `one_sided_calls`: those of one side alone that no
    verdict lacks, since the level of a capture or another kernel explains them. `by_element` and `by_digest`: of the
    values, those compared element by element, and those whose digests tell; the others by statistics.
    `update_elements`: elements of the optimizers' updates that both records have, of `all_update_elements`; those that
    they have not take part in sums."""

    calls: int = 0
    all_calls: int = 0
    one_sided_calls: int = 0
    values: int = 0
    all_values: int = 0
    by_element: int = 0
    by_digest: int = 0
    update_elements: int = 0
    all_update_elements: int = 0
    steps: tuple[int, ...] = ()
    all_steps: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    all_ranks: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AllowedNoise:
    """The noise that a second golden run showed. `values`: tensors that it tells of; `largest`: their largest relative
    distance, in the call `name`; `by_noise`: values that pass by it alone. `updates`: parameters of the optimizer that
    it tells of; `largest_update`: the largest distance of their updates, in that of `update_name`."""

    folder: str
    values: int
    by_noise: int
    largest: float
    name: str
    updates: int = 0
    largest_update: float = 0.0
    update_name: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All passes one behind the other, steps before ranks.

    Of each call (arrays of one length, in execution order of the target; calls that it misses stand where the golden
    side has them): `target_call`, `golden_call`, int32, the index in the dump of its pass, -1 without;
    `call_verdict`, uint8; `call_error`, float32, the largest relative distance of its outputs; `call_input`, that of
    its inputs; `call_allowed`, what is explained: the limit that `call_error` was held against; `parent`, int32, the
    index of the module it was called in, -1; `stack` and `golden_stack`, int32, indices into `stacks`, -1 without;
    `is_backward`, bool; `is_module`, bool; `golden_name`, int32, index into `texts` of calls that the golden side
    names otherwise (another number in the name, since a call is missing), -1 where the names are equal. It may lack.
    Of each row: `call`, int32, ascending; `role`, uint8 as in dump.dump; `is_scalar`, bool; `item`, index into `items`;
    `target_dtype`, `golden_dtype`, int32, indices into `dtypes`, -1; `target_shape`, `golden_shape`, into `shapes`, -1;
    `target_stats`, `golden_stats`, float64 (rows, 4), NaN without; `error`, float32, its relative distance (NaN: none);
    `allowed`, float32; `verdict`, uint8; `msprobe`, uint8; `measures`, float64 (rows, len(MEASURES)) or of (0, …) where
    no tensors were read; `target_text`, `golden_text`, int32, indices into `texts` for scalars and digests, -1;
    `target_file`, `golden_file`, int32, indices into `texts`: names of the tensors' files, which lie in the data
    folder of each side's dump (`Dump.data_folder`, in most cases dump_tensor_data in the pass's folder), -1.
    `coverage`: None of a comparison that an older studio wrote; `noise`: None without a second golden run.
    """

    passes: tuple[Pass, ...]
    first: First | None
    names: Sequence[str]
    columns: dict[str, NDArray[Any]]
    items: tuple[str, ...]
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    texts: tuple[str, ...]
    stacks: tuple[tuple[str, ...], ...]
    notes: tuple[dict[str, Any], ...] = ()
    coverage: Coverage | None = None
    noise: AllowedNoise | None = None

    @property
    def gaps(self) -> tuple[dict[str, Any], ...]:
        """Return the notes on what was there and was not compared."""
        return tuple(note for note in self.notes if note["key"] in GAPS)

    @property
    def outcome(self) -> Outcome:
        return "differs" if self.first is not None else "incomplete" if self.gaps else "pass"

    def __getattr__(self, name: str) -> NDArray[Any]:
        """A column."""
        try:
            return self.columns[name]
        except KeyError:
            raise AttributeError(name) from None


def comparison_answer(run: Run) -> dict[str, Any]:
    """Return what `--json` adds, as the worker wrote it, so that the command need not open the comparison; {} where the
    run left none."""
    answer = files.read_json(run.folder / FOLDER / ANSWER_FILE)
    return answer if isinstance(answer, dict) else {}


def write_answer(comparison: Comparison, run: Run, digests: Mapping[str, Mapping[str, str]]) -> None:
    """Write what `--json` adds into the folder of the comparison. `digests`: of the files of each dump, by its folder.
    Raises OSError."""
    first = comparison.first
    verdicts = comparison.verdict.tolist()
    answer = {
        "verdict": comparison.outcome,
        "first_divergence": None if first is None else {
            "name": first.name, "direction": first.direction, "place": first.place, "index": first.index,
            "step": first.step, "rank": first.rank, "reason": first.reason, "source": first.source, "args": first.args,
            "suspect": suspect_of(first),
        },
        "calls": len(comparison.names), "rows": len(verdicts),
        "differs": verdicts.count(DIFFERS) + verdicts.count(FIRST), "follows": verdicts.count(FOLLOWS),
        "passes": [{"step": each.step, "rank": each.rank} for each in comparison.passes],
        "coverage": {} if comparison.coverage is None else asdict(comparison.coverage),
        "golden_again": None if comparison.noise is None else asdict(comparison.noise),
        "digests": digests, "gaps": list(comparison.gaps), "notes": [note["key"] for note in comparison.notes],
    }  # fmt: skip
    files.write_json(run.folder / FOLDER / ANSWER_FILE, answer)
