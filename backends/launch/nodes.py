"""A training on several nodes, as the line to run on each of them: the studio starts nothing on another host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.launchers import node_lines, python_of
from backends.launch.plan import options
from backends.launch.spec import LaunchSpec, one_node
from studio import files
from studio.events import Ended, Journal, Note
from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from studio.run import Run


def _master_is_named(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.parallel.nodes > 1 and not spec.parallel.master:
        yield Problem(field="master", rule="launch.rule.no_master")


@dataclass(frozen=True, kw_only=True)
class NodesSpec(LaunchSpec):
    """The choices of a launch, which itself starts on one node alone."""

    RULES = (*(rule for rule in LaunchSpec.RULES if rule is not one_node), _master_is_named)  # type: ignore[assignment]


def lines(spec: LaunchSpec, folder: Path | None) -> list[str]:
    return node_lines(spec, python_of(spec), options(spec), folder)


def headed(found: list[str]) -> list[str]:
    """Each under a comment that a shell passes over."""
    return [f"# node {node}, not run\n{line}" for node, line in enumerate(found)]


def nodes(spec: NodesSpec, run: Run) -> Ended:
    """The lines, told and in output.log. They go on in the folder of this run."""
    found = lines(spec, run.folder)
    files.write_whole(run.log, "\n".join((*headed(found), "")).encode())
    told = [Note(key="launch.node_line", args={"node": node, "text": line}) for node, line in enumerate(found)]
    Journal(run.folder, 1).write(*told)
    return Ended(code=0)
