"""What `ascend-studio timeline` opens."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Profile:
    """`profile_path`: a trace, a database, the folder of a rank or a folder of ranks."""

    profile_path: Path = option(Path(), positional=True, wants="file", flag_name="path")


def _profile_exists(spec: TimelineSpec) -> Iterable[Problem]:
    path = spec.profile.profile_path
    if path == Path():
        yield Problem(field="profile_path", rule="timeline.rule.no_profile")
    elif not path.exists():
        yield Problem(field="profile_path", rule="timeline.rule.profile_not_there", args={"place": str(path)})


@dataclass(frozen=True, kw_only=True)
class TimelineSpec:
    profile: Profile = field(default_factory=Profile)

    RULES = (_profile_exists,)
