"""Migration: what stands between a GPU project and an NPU, the edits for it, and the proof that it still trains."""

from backends.migration.certify.spec import CertifySpec
from backends.migration.compare_sides.spec import CompareSidesSpec
from backends.migration.migrate.spec import MigrateSpec
from backends.migration.official.spec import OfficialSpec
from backends.migration.scan.spec import ScanSpec
from studio.feature import Action, Feature

FEATURE = Feature(
    id="migration",
    order=20,
    shows_runs="own",
    step="backends.migration.step:step",
    actions=(
        Action(
            name="scan",
            spec=ScanSpec,
            work="backends.migration.scan.work:scan",
            answer="backends.migration.scan.work:scan_answer",
            doing="migration.doing.scan",
        ),
        Action(
            name="migrate",
            spec=MigrateSpec,
            work="backends.migration.migrate.work:migrate",
            answer="backends.migration.migrate.work:migrate_answer",
            doing="migration.doing.migrate",
        ),
        Action(
            name="certify",
            spec=CertifySpec,
            work="backends.migration.certify.work:certify",
            answer="backends.migration.certify.certificate:certify_answer",
            doing="migration.doing.certify",
            training="backends.migration.certify.next_training:training_after",
        ),
        Action(
            name="compare-migrated",
            spec=CompareSidesSpec,
            work="backends.migration.compare_sides.work:compare_sides",
            answer="backends.migration.compare_sides.runs_file:sides_answer",
            doing="migration.doing.sides",
        ),
        Action(
            name="second-opinion",
            spec=OfficialSpec,
            work="backends.migration.official.work:second_opinion",
            answer="backends.migration.official.work:opinion_answer",
            doing="migration.doing.official",
        ),
    ),
)
