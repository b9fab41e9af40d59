"""Which rows of two joined dumps are of the optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.optimizer import OPTIMIZER

if TYPE_CHECKING:
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.values.joined import JoinedDumps


def of_optimizers(joined: JoinedDumps) -> Array:
    """Mark the rows in calls of an optimizer."""
    is_call = np.array([name.kind == OPTIMIZER for name in joined.names] or [False])
    return np.asarray(is_call[joined.rows.call])


def ends_with(joined: JoinedDumps, suffix: str) -> Array:
    """Mark the rows whose item ends so."""
    is_such = np.array([text.endswith(suffix) for text in joined.rows.items] or [False])
    return np.asarray(is_such[joined.rows.item])
