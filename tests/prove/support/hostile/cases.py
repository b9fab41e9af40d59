"""All cases of commands: which command meets which material."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.prove.support.hostile import data_files, projects, run_folders
from tests.prove.support.hostile.trial import Case

if TYPE_CHECKING:
    from collections.abc import Iterator

WATCHED = ("watch", "stop")
TAKEN_OVER = (
    "dead worker", "worker is a living process", "training is a living process", "training is marked, of another user",
    "link at output.log", "link at artifacts", "link at exit.a1", "links to nothing yet",
)  # fmt: skip
LOGGED = ("escapes", "long lines", "link at output.log", "pipes instead of files", "folder is a link")
CAPTURED = ("dead worker", "worker is a living process", "link at capture.json", "link at artifacts", "deep request")
LISTED = ("dead worker", "escapes", "deep request", "huge numbers", "pipes instead of files", "run.json is a pipe")
SLOW_PROJECTS = ("modules of our names", "environments", "build files", "links to code")


def cases() -> tuple[Case, ...]:
    return (*run_cases(), *file_cases(), *project_cases())


def run_cases() -> Iterator[Case]:
    foreign, own = run_folders.foreign_case, run_folders.own_case
    for command in WATCHED:
        for kind in run_folders.FOREIGN:
            yield Case(command=command, material=f"run: {kind}", build=foreign((command, "RUN"), kind))
        for kind in run_folders.OWN:
            yield Case(command=command, material=f"run: {kind}", build=own((command, "RUN"), kind))
        for line in run_folders.LINES:
            build = foreign((command, "RUN"), "dead worker", line)
            yield Case(command=command, material=f"run: line of {line}", build=build)
    for kind in TAKEN_OVER:
        asked = run_folders.asked_case(("watch", "--take-over", "RUN"), kind)
        yield Case(command="watch --take-over", material=f"run: {kind}", build=asked)
    for kind in LOGGED:
        yield Case(command="log", material=f"run: {kind}", build=foreign(("log", "RUN"), kind))
    yield Case(command="log --json", material="run: escapes", build=foreign(("log", "--json", "RUN"), "escapes"))
    for kind in CAPTURED:
        yield Case(command="capture", material=f"run: {kind}", build=foreign(("capture", "RUN"), kind))
    for kind in LISTED:
        yield Case(command="runs", material=f"run: {kind}", build=foreign(("runs",), kind))
        words = ("compare-losses", "RUN", "SECOND")
        yield Case(command="compare-losses", material=f"run: {kind}", build=foreign(words, kind))


def file_cases() -> Iterator[Case]:
    words: tuple[str, ...]
    for name in data_files.PICKLED:
        words = ("compare-weights", "FILE", "GOOD")
        yield Case(command="compare-weights", material=f"weights: {name}", build=data_files.tensor_file(name, words))
    for name in ("zip.ckpt", "pickle.ckpt"):
        words = ("launch", "--recipe", "linear", "--steps", "1", "--weights", "FILE")
        yield Case(command="launch --weights", material=f"weights: {name}", build=data_files.tensor_file(name, words))
    for kind in data_files.DUMP_KINDS:
        build = data_files.dump_case(kind, ("compare", "TARGET", "GOLDEN"))
        yield Case(command="compare", material=f"dump: {kind}", build=build)
    for kind in ("names", "links", "deep"):
        build = data_files.dump_case(kind, ("overflow-check", "TARGET"))
        yield Case(command="overflow-check", material=f"dump: {kind}", build=build)
    for kind in data_files.PROFILE_KINDS:
        build = data_files.profile_case(kind, ("timeline", "FILE", "--json"))
        yield Case(command="timeline", material=f"profile: {kind}", build=build)
    for command in ("timeline", "scan"):
        words = (command, "FILE" if command == "timeline" else "FOLDER")
        yield Case(command=command, material="cache: of somebody", build=data_files.cache_case(words))
    yield Case(command="kernels", material="cache: kernels of somebody", build=data_files.kernels_case)
    for kind in ("members out", "pickles", "bomb"):
        build = data_files.pack_case(kind, ("config-check", "A", "B"))
        yield Case(command="config-check", material=f"pack: {kind}", build=build)
    for command in ("reproduce", "precision-report", "deeper", "acc-check"):
        build = data_files.comparison_case((command, "COMPARISON"))
        yield Case(command=command, material="comparison: names and commands", build=build)
    resume = ("launch", "--recipe", "linear", "--steps", "5", "--resume", "RUN")
    yield Case(command="launch --resume", material="checkpoint: pickles", build=data_files.resume_case(resume))
    for which in ("last", "best"):
        words = ("export", "--source", "RUN", "--which", which)
        yield Case(command="export", material=f"checkpoint: {which}", build=data_files.resume_case(words))
    for kind in ("target outside", "path out", "absolute path", "unfinished copy"):
        yield Case(command="migrate --undo", material=f"record: {kind}", build=data_files.undo_case(kind))


def project_cases() -> Iterator[Case]:
    words: tuple[str, ...]
    build = projects.project_case
    for kind in projects.KINDS:
        is_git = kind.startswith("git")
        words = ("--project", "FOLDER", "launch", "--", "true")
        yield Case(command="launch -- true", material=f"project: {kind}", build=build(kind, words, is_owner=is_git))
        if is_git:
            words = ("--no-project", "migrate", "FOLDER", "--branch", "npu", "--accept", "all")
            branch = build(kind, words, is_owner=True, is_clean=True)
            yield Case(command="migrate --branch", material=f"project: {kind}", build=branch)
            continue
        yield Case(command="scan", material=f"project: {kind}", build=build(kind, ("scan", "FOLDER")))
        words = ("--no-project", "migrate", "FOLDER", "--out", "COPY", "--accept", "all")
        yield Case(command="migrate --out", material=f"project: {kind}", build=build(kind, words))
        if kind in SLOW_PROJECTS:
            yield Case(command="runs", material=f"project: {kind}", build=build(kind, ("runs",)))
            for name, more in (
                ("second-opinion", ("FOLDER",)),
                ("template", ()),
                ("preview", ()),
                ("timeline", ("FOLDER",)),
            ):
                yield Case(command=name, material=f"project: {kind}", build=build(kind, ("--no-project", name, *more)))
