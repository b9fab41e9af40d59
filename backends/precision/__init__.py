"""Precision: which operator was the first to go wrong, and why."""

from backends.precision.config.spec import ConfigCheckSpec
from backends.precision.determinism.spec import DeterminismSpec
from backends.precision.losses.spec import LossesSpec
from backends.precision.weights.spec import WeightsSpec
from studio.feature import Action, Feature

FEATURE = Feature(
    id="precision",
    order=50,
    actions=(
        Action(
            name="config-check",
            spec=ConfigCheckSpec,
            work="backends.precision.config.work:config_check",
            answer="backends.precision.config.work:answer",
        ),
        Action(
            name="determinism",
            spec=DeterminismSpec,
            work="backends.precision.determinism.work:determinism",
            answer="backends.precision.determinism.result:answer",
        ),
        Action(
            name="compare-weights",
            spec=WeightsSpec,
            work="backends.precision.weights.work:compare_weights",
            answer="backends.precision.weights.result:answer",
        ),
        Action(
            name="compare-losses",
            spec=LossesSpec,
            work="backends.precision.losses.work:compare_losses",
            answer="backends.precision.losses.result:answer",
        ),
    ),
)
