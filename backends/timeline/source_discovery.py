"""Discovery of the files of a folder that are profiles, and of their ranks."""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from backends.timeline.captures import newest
from backends.timeline.file_signature import looks_like
from backends.timeline.tables.memory_counters import counter_files
from backends.timeline.tables.table_damage import damage_of
from backends.timeline.tables.table_files import files_of
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path


OUTPUTS = ("ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output")
Kind = Literal["text", "db", "table", "analysis"]
DEPTH = 12
ENTRIES = 50_000
MAX_NAMED = 3  # names of what is not shown
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
_TABLE_REMARKS = {"cut": "timeline.remark.table_cut", "damaged": "timeline.remark.table_damaged"}
_RANK_FOLDER = re.compile(r".*_ascend_(?:pt|ms)$")  # of torch_npu and MindSpore, one for each rank
_RAW = re.compile(r"(?:sqlite|device_\d+|host|data|log|logs|cluster_analysis_output|__pycache__|\..*)$", re.I)


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file to read, in the folder `folder`. Kind "table": a csv with counters next to a trace. Kind "analysis": a
    file of tables without events."""

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
class Discovery:
    sources: tuple[SourceFile, ...]
    remarks: tuple[Remark, ...] = ()


def find_sources(path: Path) -> tuple[SourceFile, ...]:
    """Return the files to read. Raises StudioError where there is no profile."""
    return find(path).sources


def find(path: Path) -> Discovery:
    """Return what a file or folder contains, by rank. Raises StudioError where there is no profile."""
    if path.is_dir():
        walk = _Walk()
        walk.into(path, 0)
        finding = _chosen(walk, path)
    else:
        finding = Discovery(sources=(_file(path),))
    if not finding.sources:
        raise StudioError("timeline.error.nothing_found", place=str(path))
    return Discovery(sources=_with_tables(finding.sources), remarks=finding.remarks)


def damaged_tables(sources: tuple[SourceFile, ...]) -> tuple[Remark, ...]:
    """Return what is wrong with the tables in the folders of these sources, also with those that are read only where a
    table or a slice is shown. Reads both ends of each: not for the UI thread."""
    paths = [source.path for source in sources if source.kind == "analysis"]
    for folder in {source.folder: None for source in sources}:
        paths += [path for path in files_of(folder, "*.csv", "*.json") if _is_table(path)]
    tables = [(path, damage_of(path)) for path in dict.fromkeys(paths) if path.suffix in (".csv", ".json")]
    return tuple(Remark(key=_TABLE_REMARKS[damage], args={"place": str(path)}) for path, damage in tables if damage)


def _file(path: Path) -> SourceFile:
    try:
        path.stat()
        kind: Kind | None = "analysis" if _is_table(path) else looks_like(path, within=False)
    except OSError as error:
        raise unreadable(path, error) from error
    if kind is None:
        raise wrong(path)
    return _source_file(path, _kind_of_db(path) if kind == "db" else kind)


def _is_table(path: Path) -> bool:
    return bool(_TABLES.match(path.name)) and path.is_file()


def _kind_of_db(path: Path) -> Kind:
    return "analysis" if path.name in ANALYSES else "db"


def wrong(path: Path) -> StudioError:
    """Return the error that says why a file is not a trace."""
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


def _source_file(path: Path, kind: Kind) -> SourceFile:
    return SourceFile(path=path, kind=kind, rank=rank_of(path), folder=path.parent)


@dataclass
class _Walk:
    """A walk through folders, each once however links lead. `other`: databases to use where there is nothing else;
    `tables`: to use where there are not even those. `ranks`: folders that a
    profiler made for a rank."""

    text: list[Path] = field(default_factory=list)
    db: list[Path] = field(default_factory=list)
    other: list[Path] = field(default_factory=list)
    tables: list[Path] = field(default_factory=list)
    ranks: list[Path] = field(default_factory=list)
    visited: set[tuple[int, int]] = field(default_factory=set)
    left: int = field(default_factory=lambda: ENTRIES)
    closed: int = 0

    def into(self, folder: Path, depth: int) -> None:
        try:
            identity = folder.stat()
            if depth > DEPTH or (identity.st_dev, identity.st_ino) in self.visited:
                return
            self.visited.add((identity.st_dev, identity.st_ino))
            with os.scandir(folder) as entries:
                names = sorted((entry.name, entry.is_dir()) for entry in entries)
        except OSError:
            self.closed += 1
            return
        if _RANK_FOLDER.match(folder.name):
            self.ranks.append(folder)
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
        """Take the tables of a cluster analysis, which have no rank and no trace."""
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


def _chosen(walk: _Walk, root: Path) -> Discovery:
    """Choose for each rank's folder the database, else the text that its profiler made of it, else whatever else looks
    like a trace. Raises the error of a broken trace where there is nothing else."""
    remarks = []
    if walk.closed:
        remarks.append(Remark(key="timeline.remark.closed_folders", args={"n": walk.closed}))
    if walk.left < 0:
        remarks.append(Remark(key="timeline.remark.too_many_files", args={"n": ENTRIES}))
    dbs, texts = _outputs_first(walk.db), _outputs_first([path for path in walk.text if _is(path, "text")])
    of_db, units = {unit_of(path) for path in dbs}, {unit_of(path) for path in [*dbs, *texts]}
    broken = [path for path in walk.text if _NAMED.match(path.name) and unit_of(path) not in units]
    paths = [_source_file(path, "db") for path in dbs]
    paths += [_source_file(path, "text") for path in texts if unit_of(path) not in of_db]
    paths, capture_remarks = _newest_capture(paths, root)
    remarks += capture_remarks
    twice = {unit_of(path) for path in texts} & {unit_of(source.path) for source in paths if source.kind == "db"}
    if twice:
        remarks.append(Remark(key="timeline.remark.db_preferred", args={"n": len(twice)}))
    paths = paths or [_source_file(path, _kind_of_db(path)) for path in walk.other if _is(path, "db")]
    paths = paths or [_source_file(path, "analysis") for path in walk.tables]
    if broken and not paths:
        raise wrong(broken[0])
    remarks += [
        Remark(key="timeline.remark.not_read", args={"reason": str(wrong(path))}) for path in broken[:MAX_NAMED]
    ]
    # Where any rank has a trace, tables alone are not shown.
    shown = [*dbs, *texts, *broken]
    unparsed = _unparsed(walk, shown if dbs or texts else [*shown, *walk.other, *walk.tables])
    remarks += [Remark(key="timeline.remark.unparsed", args={"place": str(path)}) for path in unparsed[:MAX_NAMED]]
    return Discovery(sources=tuple(sorted(paths, key=_sort_key)), remarks=tuple(remarks))


def _unparsed(walk: _Walk, files: list[Path]) -> list[Path]:
    """Return the folders of ranks that contain nothing to show: their collection was not parsed, or its trace is gone.
    A folder that holds the tables of an output is that of a rank, whatever its name."""
    around = {parent for path in files for parent in path.parents}
    outputs = {unit_of(path) for path in walk.tables if path.parent.name in OUTPUTS}
    return [folder for folder in sorted({*walk.ranks, *outputs}) if folder not in around]


def _newest_capture(paths: list[SourceFile], root: Path) -> tuple[list[SourceFile], list[Remark]]:
    """Keep the newest capture, where the same ranks were captured several times."""
    units = [(unit_of(source.path), source.rank, source.path) for source in paths]
    chosen, others = newest(units, root)
    if not others:
        return paths, []
    members = [source for source, unit in zip(paths, units, strict=True) if unit[:2] in chosen.members]
    names = ", ".join([*(capture.name for capture in others[:MAX_NAMED]), *(["…"] if len(others) > MAX_NAMED else [])])
    args = {"place": str(root), "n": len(others) + 1, "shown": chosen.name, "others": names}
    return members, [Remark(key="timeline.remark.captures", args=args)]


def _is(path: Path, kind: Kind) -> bool:
    try:
        return looks_like(path, within=True) == kind
    except OSError:
        return False


def _outputs_first(paths: list[Path]) -> list[Path]:
    """Drop what msprof wrote about a collection of which the framework's profiler made its own output."""
    framework_units = {unit_of(path) for path in paths if path.parent.name == OUTPUTS[0]}
    return [path for path in paths if path.parent.name == OUTPUTS[0] or unit_of(path) not in framework_units]


def unit_of(path: Path) -> Path:
    """Return the folder of one collection: that of the rank, for all files that its profilers write in it."""
    folder = path.parent
    if folder.name in OUTPUTS:
        folder = folder.parent
    if folder.name.startswith("PROF_") and folder.parent.name.endswith(("_ascend_pt", "_ascend_ms")):
        folder = folder.parent
    return folder


def _sort_key(source: SourceFile) -> tuple[bool, int, str]:
    return source.rank is None, source.rank or 0, str(source.path)


def _with_tables(sources: tuple[SourceFile, ...]) -> tuple[SourceFile, ...]:
    """Add the counter tables next to text traces; a database contains these figures itself."""
    tables: dict[Path, SourceFile] = {}
    for source in sources:
        if source.kind == "text":
            for path in counter_files(source.folder):
                tables.setdefault(path, SourceFile(path=path, kind="table", rank=source.rank, folder=source.folder))
    return (*sources, *tables.values())


RANK_LEVELS = 5  # folders above a file in which its rank is looked for
_OF_DB = re.compile(r"profiler_(\d+)\.db$", re.I)
_OF_NOTE = re.compile(r"profiler_info_(\d+)\.json$")
_OF_NAME = re.compile(r"(?:^|[^a-z])rank[_\-.]?(\d+)(?!\d)", re.I)


def rank_of(path: Path) -> int | None:
    """Return the rank by the name of the database, by the profiler's own note next to it, or by the names of the
    folders around it."""
    if named := _OF_DB.search(path.name) or _OF_NAME.search(path.name):
        return _rank_number(named)
    for folder in list(path.absolute().parents)[:RANK_LEVELS]:
        if named := _noted(folder) or _OF_NAME.search(folder.name):
            return _rank_number(named)
    return None


def _rank_number(named: re.Match[str]) -> int | None:
    return int(named[1]) if len(named[1]) < 9 else None


def _noted(folder: Path) -> re.Match[str] | None:
    """Return the rank's note if there is exactly one: a folder of several ranks has several."""
    try:
        notes = [named for name in os.listdir(folder) if (named := _OF_NOTE.match(name))]
    except OSError:
        return None
    return notes[0] if len(notes) == 1 else None
