"""Which files of a folder are profiles, and of which rank."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from backends.timeline.captures import newest
from backends.timeline.rank import rank_of
from backends.timeline.sniff import looks_like
from backends.timeline.tables.counters import counter_files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

OUTPUTS = ("ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output")
Kind = Literal["text", "db", "table", "analysis"]
DEPTH = 12
ENTRIES = 50_000
TOLD = 3  # names of what is not shown
CLUSTER, CLUSTER_DB = "cluster_analysis_output", "cluster_analysis.db"
ANALYSES = ("analysis.db", CLUSTER_DB, "communication_analyzer.db")
# What analyses write, without a slice; MindStudio Insight's own cache.
NO_TIMELINE = (*ANALYSES, "mindstudio_insight_data.db")
_PROFILER_DB = re.compile(r"ascend_(?:pytorch|mindspore)_profiler\w*\.db$|msprof\w*\.db$", re.I)
_TEXT = re.compile(r"\.json(?:\.gz)?$", re.I)
_NAMED = re.compile(r"(?:trace_view|msprof_\w+|.*\.pt\.trace)\.json(?:\.gz)?$", re.I)  # traces by their names alone
_TABLES = re.compile(
    r"(?:kernel_details|op_(?:statistic|summary)|operator_(?:details|memory)|api_statistic|task_time|l2_cache"
    r"|memory_record|npu_module_mem|communication_statistic|(?:cluster_)?step_trace(?:_time)?)(?:_\w+)?\.csv$"
    r"|(?:cluster_)?communication(?:_matrix)?\.json$"
)
_RAW = re.compile(r"(?:sqlite|device_\d+|host|data|log|logs|cluster_analysis_output|__pycache__|\..*)$", re.I)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A file to be read, of the folder `folder`. Kind "table": a csv with figures over time, beside a trace. Kind
    "analysis": a file of tables without events."""

    path: Path
    kind: Kind
    rank: int | None
    folder: Path


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A sentence about what was opened: a key of the catalogue and its arguments."""

    key: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Finding:
    sources: tuple[Found, ...]
    remarks: tuple[Remark, ...] = ()


def find_sources(path: Path) -> tuple[Found, ...]:
    """Raises StudioError where there is no profile."""
    return find(path).sources


def find(path: Path) -> Finding:
    """What a file or folder holds, by rank. Raises StudioError where there is no profile."""
    if path.is_dir():
        walk = _Walk()
        walk.into(path, 0)
        finding = _chosen(walk, path)
    else:
        finding = Finding(sources=(_file(path),))
    if not finding.sources:
        raise StudioError("timeline.error.nothing_found", place=str(path))
    return Finding(sources=_with_tables(finding.sources), remarks=finding.remarks)


def _file(path: Path) -> Found:
    try:
        path.stat()
        kind: Kind | None = "analysis" if _is_table(path) else looks_like(path, within=False)
    except OSError as error:
        raise unreadable(path, error) from error
    if kind is None:
        raise wrong(path)
    return _found(path, _kind_of_db(path) if kind == "db" else kind)


def _is_table(path: Path) -> bool:
    return bool(_TABLES.match(path.name)) and path.is_file()


def _kind_of_db(path: Path) -> Kind:
    return "analysis" if path.name in ANALYSES else "db"


def wrong(path: Path) -> StudioError:
    """Why a file is no trace."""
    try:
        if path.is_file() and path.stat().st_size == 0:
            return StudioError("timeline.db.empty", path=str(path))
        key = "timeline.error.no_profile" if looks_like(path, within=False) is None else "timeline.error.no_events"
    except OSError as error:
        return unreadable(path, error)
    return StudioError(key, place=str(path))


def unreadable(path: Path, error: OSError) -> StudioError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return from_os(error, path)
    return StudioError("timeline.error.unreadable", place=str(path), reason=error.strerror or str(error))


def _found(path: Path, kind: Kind) -> Found:
    return Found(path=path, kind=kind, rank=rank_of(path), folder=path.parent)


@dataclass
class _Walk:
    """Folders below one, each once however links run. `other`: databases for where there is nothing else; `tables`: for
    where there is not even one of those."""

    text: list[Path] = field(default_factory=list)
    db: list[Path] = field(default_factory=list)
    other: list[Path] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)
    left: int = field(default_factory=lambda: ENTRIES)
    closed: int = 0

    def into(self, folder: Path, depth: int) -> None:
        try:
            identity = folder.stat()
            if depth > DEPTH or (identity.st_dev, identity.st_ino) in self.seen:
                return
            self.seen.add((identity.st_dev, identity.st_ino))
            with os.scandir(folder) as entries:
                names = sorted((entry.name, entry.is_dir()) for entry in entries)
        except OSError:
            self.closed += 1
            return
        for name, is_folder in names:
            self.left -= 1
            if self.left < 0:
                return
            if not is_folder:
                self.take(folder / name)
            elif name == CLUSTER:
                self.into_analysis(folder / name)
            elif not _RAW.match(name):
                self.into(folder / name, depth + 1)

    def into_analysis(self, folder: Path) -> None:
        """What it holds has no rank, and no trace."""
        for path in sorted(folder.glob("cluster_*")):
            self.take(path)

    def take(self, path: Path) -> None:
        if not path.is_file():
            return
        if _is_table(path):
            self.tables.append(path)
            return
        if path.name in NO_TIMELINE:
            self.other.append(path)
        elif _PROFILER_DB.match(path.name):
            self.db.append(path)
        elif path.suffix.lower() == ".db":
            self.other.append(path)
        elif _TEXT.search(path.name):
            self.text.append(path)


def _chosen(walk: _Walk, root: Path) -> Finding:
    """Of each rank's folder the db, else the text that its profiler made of it, else what else looks like a trace.
    Raises the error of a trace that is none where there is nothing else."""
    remarks = []
    if walk.closed:
        remarks.append(Remark(key="timeline.remark.closed_folders", args={"n": walk.closed}))
    if walk.left < 0:
        remarks.append(Remark(key="timeline.remark.too_many_files", args={"n": ENTRIES}))
    dbs, texts = _outputs_first(walk.db), _outputs_first([path for path in walk.text if _is(path, "text")])
    of_db, units = {unit_of(path) for path in dbs}, {unit_of(path) for path in [*dbs, *texts]}
    broken = [path for path in walk.text if _NAMED.match(path.name) and unit_of(path) not in units]
    paths = [_found(path, "db") for path in dbs]
    paths += [_found(path, "text") for path in texts if unit_of(path) not in of_db]
    paths, told = _of_one_capture(paths, root)
    remarks += told
    twice = {unit_of(path) for path in texts} & {unit_of(found.path) for found in paths if found.kind == "db"}
    if twice:
        remarks.append(Remark(key="timeline.remark.db_preferred", args={"n": len(twice)}))
    paths = paths or [_found(path, _kind_of_db(path)) for path in walk.other if _is(path, "db")]
    paths = paths or [_found(path, "analysis") for path in walk.tables]
    if broken and not paths:
        raise wrong(broken[0])
    remarks += [Remark(key="timeline.remark.not_read", args={"reason": str(wrong(path))}) for path in broken[:TOLD]]
    return Finding(sources=tuple(sorted(paths, key=_place)), remarks=tuple(remarks))


def _of_one_capture(paths: list[Found], root: Path) -> tuple[list[Found], list[Remark]]:
    """Where the same ranks were captured several times: the newest capture."""
    units = [(unit_of(found.path), found.rank, found.path) for found in paths]
    chosen, others = newest(units, root)
    if not others:
        return paths, []
    kept = [found for found, unit in zip(paths, units, strict=True) if unit[:2] in chosen.members]
    names = ", ".join([*(one.name for one in others[:TOLD]), *(["…"] if len(others) > TOLD else [])])
    args = {"place": str(root), "n": len(others) + 1, "shown": chosen.name, "others": names}
    return kept, [Remark(key="timeline.remark.captures", args=args)]


def _is(path: Path, kind: Kind) -> bool:
    try:
        return looks_like(path, within=True) == kind
    except OSError:
        return False


def _outputs_first(paths: list[Path]) -> list[Path]:
    """Without what msprof wrote about the same collection, where the framework's profiler made its own of it."""
    made = {unit_of(path) for path in paths if path.parent.name == OUTPUTS[0]}
    return [path for path in paths if path.parent.name == OUTPUTS[0] or unit_of(path) not in made]


def unit_of(path: Path) -> Path:
    """The folder of one collection: that of the rank, for all files that its profilers write in it."""
    folder = path.parent
    if folder.name in OUTPUTS:
        folder = folder.parent
    if folder.name.startswith("PROF_") and folder.parent.name.endswith(("_ascend_pt", "_ascend_ms")):
        folder = folder.parent
    return folder


def _place(found: Found) -> tuple[bool, int, str]:
    return found.rank is None, found.rank or 0, str(found.path)


def _with_tables(sources: tuple[Found, ...]) -> tuple[Found, ...]:
    """A db holds the figures itself that lie beside a text as tables."""
    tables: dict[Path, Found] = {}
    for found in sources:
        if found.kind == "text":
            for path in counter_files(found.folder):
                tables.setdefault(path, Found(path=path, kind="table", rank=found.rank, folder=found.folder))
    return (*sources, *tables.values())
