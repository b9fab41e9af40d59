"""1,000,000 rows of a comparison in the table: shown, sorted, filtered."""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QApplication

from backends.precision.compare.comparison import EXPLAINED, FIRST, FOLLOWS, Comparison, Pass
from tests.bench.figure import Figure
from ui.precision.comparison.selection import Selection
from ui.precision.tables.row_order import RowOrder
from ui.precision.tables.table_view import TableView
from ui.widgets import theme

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, CALLS = 1_000_000, 250_000
APIS = ("Functional.linear", "Functional.layer_norm", "Torch.matmul", "Tensor.__add__", "Functional.gelu")
SHOWN, ARRANGED = 100, 150


def comparison() -> Comparison:
    """As wide as a real one, its numbers random."""
    some = np.random.default_rng(1)
    names = tuple(f"{APIS[i % len(APIS)]}.{i // len(APIS)}.{'forward' if i * 2 < CALLS else 'backward'}"
                  for i in range(CALLS))  # fmt: skip
    none = np.full(CALLS, -1, np.int32)
    calls = {"target_call": np.arange(CALLS, dtype=np.int32), "golden_call": np.arange(CALLS, dtype=np.int32),
             "parent": none, "stack": none, "golden_stack": none, "is_module": np.zeros(CALLS, bool),
             "call_verdict": some.choice((EXPLAINED, FOLLOWS), CALLS).astype(np.uint8),
             "is_backward": np.arange(CALLS) * 2 >= CALLS}  # fmt: skip
    calls |= {name: some.random(CALLS, np.float32) for name in ("call_error", "call_input", "call_allowed")}
    rows = {"call": np.repeat(np.arange(CALLS, dtype=np.int32), ROWS // CALLS), "role": _some(some, 4, np.uint8),
            "is_scalar": np.zeros(ROWS, bool), "item": _some(some, 3), "msprobe": _some(some, 4, np.uint8),
            "verdict": some.choice((EXPLAINED, FOLLOWS), ROWS).astype(np.uint8),
            "error": some.random(ROWS, np.float32), "allowed": some.random(ROWS, np.float32),
            "target_stats": some.random((ROWS, 4)), "golden_stats": some.random((ROWS, 4)),
            "measures": np.zeros((0, 9))}  # fmt: skip
    rows |= {f"{side}_{what}": _some(some, 2) for side in ("target", "golden") for what in ("dtype", "shape")}
    rows |= {
        f"{side}_{what}": np.full(ROWS, -1, np.int32) for side in ("target", "golden") for what in ("text", "file")
    }
    rows["verdict"][ROWS // 2] = FIRST
    each = Pass(step=0, rank=0, target=None, golden=None, first_call=0, first_row=0)
    return Comparison(passes=(each,), first=None, names=names, columns=calls | rows, items=("0", "1", "weight"),
                      dtypes=("torch.float32", "torch.bfloat16"), shapes=((4, 8, 32), (32, 32)), texts=(),
                      stacks=())  # fmt: skip


def _some(some: np.random.Generator, below: int, dtype: type = np.int32) -> np.ndarray:
    return some.integers(0, below, ROWS).astype(dtype)


def figures() -> list[Figure]:
    app = QApplication.instance() or QApplication([])
    theme.apply(app, "light")
    found = comparison()
    shown, view = [], TableView(Selection())
    for _ in range(5):
        view = TableView(Selection())
        view.resize(1100, 600)
        view.show()
        QApplication.processEvents()
        shown.append(_milliseconds(view, lambda view=view: view.show_order(RowOrder(found))))
        _wait_for_order(view)
    made = {"error": _sorted(view, "error"), "name": _sorted(view, "name"), "verdict": _sorted(view, "verdict")}
    filtered = {"a text": _filtered(view, "layer_norm.1"), "a verdict": _of_verdict(view)}
    return [
        Figure(what="1,000,000 rows of a comparison shown", value=statistics.median(shown), unit="ms", bar=SHOWN),
        *(Figure(what=f"sorted by {name}, the slowest of 3", value=ms, unit="ms", bar=ARRANGED)
          for name, ms in made.items()),
        *(Figure(what=f"filtered by {name}, the slowest of 3", value=ms, unit="ms", bar=ARRANGED)
          for name, ms in filtered.items()),
    ]  # fmt: skip


def _milliseconds(view: TableView, act: Callable[[], object]) -> float:
    """Return the seconds of the UI thread until it is painted."""
    begun = time.thread_time()
    act()
    view.grab()
    return 1000 * (time.thread_time() - begun)


def _wait_for_order(view: TableView) -> None:
    """What the page prepares in the background, a person who clicks seconds later does not wait for."""
    assert view.model.order is not None
    view.model.order.prepare()
    QApplication.processEvents()


def _sorted(view: TableView, column: str) -> float:
    section = view.model.columns.index(column)
    click = view.view.horizontalHeader().sectionClicked
    return max(_milliseconds(view, lambda: click.emit(section)) for _ in range(3))


def _filtered(view: TableView, text: str) -> float:
    def search(words: str) -> None:
        view.filter.text.setText(words)
        view.filter.changed.emit()

    slowest = max(_milliseconds(view, partial(search, text[:length])) for length in (len(text), 6, 3))
    assert 0 < len(view.model.rows) < ROWS
    search("")
    return slowest


def _of_verdict(view: TableView) -> float:
    slowest = 0.0
    for verdicts in ({FIRST}, {FOLLOWS}, {EXPLAINED, FOLLOWS}):
        wanted = type(view.model.query)(verdicts=frozenset(verdicts))
        slowest = max(slowest, _milliseconds(view, lambda wanted=wanted: view.model.show_query(wanted)))
    return slowest
