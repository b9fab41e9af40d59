"""Where a migration may go by default, and what was decided on it, for the run that applies it."""

from __future__ import annotations

import hashlib
import os
from itertools import count
from typing import TYPE_CHECKING

from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from studio import files, places

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.migrate.changes import Decisions, Style
    from backends.migration.scan.spec import Against

BRANCH = "npu"


def free_folder(project: Path) -> Path:
    """'<project>-npu' beside it, or with a number where that is taken."""
    names = (f"{project.name}-npu", *(f"{project.name}-npu-{number}" for number in range(2, 100)))
    return next((project.parent / name for name in names if not (project.parent / name).exists()), project.parent)


def free_branch(project: Path) -> str:
    """'npu', or with a number where there is such a branch; as git keeps them one by one. The run asks git itself."""
    heads = project / ".git" / "refs" / "heads"
    if not (heads / BRANCH).exists():
        return BRANCH
    return next(f"{BRANCH}-{number}" for number in count(2) if not (heads / f"{BRANCH}-{number}").exists())


def spec_to_apply(project: Path, style: Style, against: Against, *, to_branch: bool) -> MigrateSpec:
    result = Result(branch=free_branch(project)) if to_branch else Result(into=free_folder(project))
    return MigrateSpec(migrated=Migrated(path=project, style=style), result=result, against=against)


def keep_decisions(project: Path, decisions: Decisions) -> Path:
    """The file for a run of `migrate`; each project has one, written anew. Raises OSError."""
    key = hashlib.blake2b(os.fsencode(project), digest_size=10).hexdigest()
    path = places.state_home() / "migration" / f"{key}-decisions.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_json(path, decisions)
    return path
