"""A training on several nodes, as the line to run on each of them: the studio starts nothing on another host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.engine_options import options_text
from backends.launch.launchers import node_lines, python_of
from backends.launch.spec import LaunchSpec, single_node
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


def _processes_train_together(spec: LaunchSpec) -> Iterable[Problem]:
    """Without a strategy each process of each node would be a training of its own, all of them in one folder."""
    if spec.parallel.parallel == "none":
        yield Problem(field="parallel", rule="launch.rule.nodes_alone")


@dataclass(frozen=True, kw_only=True)
class NodesSpec(LaunchSpec):
    """The choices of a launch, which itself starts on one node alone. The lines are msrun's. Nobody
    watches what they start: no capture is asked of it, and a stop has no grace."""

    UNUSED = ("planned", "grace", "launcher")
    RUNS_HERE = False
    RULES = (
        *(rule for rule in LaunchSpec.RULES if rule is not single_node),
        _processes_train_together,
        _master_is_named,
    )  # type: ignore[assignment]


def lines_for_nodes(spec: LaunchSpec, folder: Path | None) -> list[str]:
    """One for each node. Each carries the options itself: there may be no run yet that could have a file of them."""
    return node_lines(spec, python_of(spec), options_text(spec), folder)


def with_node_comments(node_texts: list[str]) -> list[str]:
    """Each under a comment that a shell passes over."""
    return [f"# node {node}, not run\n{line}" for node, line in enumerate(node_texts)]


def nodes(spec: NodesSpec, run: Run) -> Ended:
    """The lines, told and in output.log. They go on in the folder of this run."""
    node_texts = lines_for_nodes(spec, run.folder)
    files.write_whole(run.log, "\n".join((*with_node_comments(node_texts), "")).encode())
    notes = [Note(key="launch.node_line", args={"node": node, "text": line}) for node, line in enumerate(node_texts)]
    if spec.parallel.nodes > 1:
        notes.append(Note(key="launch.nodes_share", args={"folder": str(run.folder), "python": str(python_of(spec))}))
    Journal(run.folder, 1).write(*notes)
    return Ended(code=0)
