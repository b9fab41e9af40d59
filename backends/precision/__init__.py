"""Precision: which operator was the first to go wrong, and why."""

from backends.precision.acc.spec import AccSpec
from backends.precision.compare.spec import CompareSpec
from backends.precision.config.spec import ConfigCheckSpec
from backends.precision.deeper.spec import DeeperSpec
from backends.precision.determinism.spec import DeterminismSpec
from backends.precision.losses.spec import LossesSpec
from backends.precision.overflow.spec import OverflowSpec
from backends.precision.report.spec import ReportSpec
from backends.precision.reproduce.spec import ReproduceSpec
from backends.precision.weights.spec import WeightsSpec
from studio.feature import Action, Feature, PathOpener

FEATURE = Feature(
    id="precision",
    order=50,
    shows_runs="own",
    step="backends.precision.step:step",
    opens=(
        PathOpener(
            kind="dump", open="ui.precision.page:open_dump", is_probable="backends.precision.dump_path:is_dump_path"
        ),
    ),
    actions=(
        Action(
            name="compare",
            spec=CompareSpec,
            work="backends.precision.compare.work:compare",
            answer="backends.precision.compare.comparison:comparison_answer",
            doing="precision.page.doing_compare",
        ),
        Action(
            name="config-check",
            spec=ConfigCheckSpec,
            work="backends.precision.config.work:config_check",
            answer="backends.precision.config.work:config_check_answer",
            doing="precision.page.doing_config",
        ),
        Action(
            name="determinism",
            spec=DeterminismSpec,
            work="backends.precision.determinism.work:determinism",
            answer="backends.precision.determinism.result:determinism_answer",
            doing="precision.page.doing_determinism",
        ),
        Action(
            name="compare-weights",
            spec=WeightsSpec,
            work="backends.precision.weights.work:compare_weights",
            answer="backends.precision.weights.result:weights_answer",
            doing="precision.page.doing_weights",
        ),
        Action(
            name="compare-losses",
            spec=LossesSpec,
            work="backends.precision.losses.work:compare_losses",
            answer="backends.precision.losses.result:losses_answer",
            doing="precision.page.doing_losses",
        ),
        Action(
            name="deeper",
            spec=DeeperSpec,
            work="backends.precision.deeper.work:deeper",
            answer="backends.precision.deeper.work:deeper_answer",
            doing="precision.page.doing_deeper",
        ),
        Action(
            name="reproduce",
            spec=ReproduceSpec,
            work="backends.precision.reproduce.work:reproduce",
            answer="backends.precision.reproduce.work:reproduce_answer",
        ),
        Action(
            name="precision-report",
            spec=ReportSpec,
            work="backends.precision.report.work:write_report",
            answer="backends.precision.report.work:report_answer",
        ),
        Action(
            name="overflow-check",
            spec=OverflowSpec,
            work="backends.precision.overflow.work:overflow_check",
            answer="backends.precision.overflow.result:overflow_answer",
            doing="precision.page.doing_overflow",
        ),
        Action(
            name="acc-check",
            spec=AccSpec,
            work="backends.precision.acc.work:acc_check",
            answer="backends.precision.acc.result:acc_answer",
            doing="precision.page.doing_acc",
        ),
    ),
)
