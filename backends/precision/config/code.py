"""The code of two runs of the studio, as their code.json have it: commit, uncommitted changes and source files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.precision.config.options import OPTIONS_HEADER, runs_of_sides
from backends.precision.config.result import CheckRow, Sentence, part
from studio import files
from studio.code.digests import is_code

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.config.result import Part
    from studio.run import Run

MAX_PATCH = 1 << 26  # bytes
SHORT = 12  # characters of a commit
MOST_FILES = 5  # that a sentence names


@dataclass(frozen=True, kw_only=True)
class Code:
    """`commit`: with a digest of the uncommitted changes, "" without a repository; `is_patch_known`: whether these were
    kept; `sources`: digests of source files by path, None where they were not taken; `studio`: version and commit of
    the studio, for recipes, whose code is ours."""

    commit: str = ""
    is_patch_known: bool = True
    sources: dict[str, str] | None = None
    studio: str = ""

    @property
    def is_known(self) -> bool:
        return self.sources is not None or bool(self.commit and self.is_patch_known)


def read_code(run: Run) -> Code:
    """Return what a run kept of its code; whatever is missing or damaged stays empty."""
    kept = files.read_json(run.folder / "code.json")
    kept = kept if isinstance(kept, dict) else {}
    commit, dirty, patch = str(kept.get("commit") or ""), kept.get("dirty"), _patch_digest(run)
    changes = f" * {patch}".rstrip() if dirty is True else ""
    sources = kept.get("sources")
    return Code(
        commit=f"{commit[:SHORT]}{changes}" if commit else "",
        is_patch_known=dirty is False or bool(patch),
        sources={str(path): str(digest) for path, digest in sources.items()} if isinstance(sources, dict) else None,
        studio=_studio(kept) if run.request.command == "launch" else "",
    )  # fmt: skip


def _studio(kept: dict[str, object]) -> str:
    return f"{kept.get('studio') or ''} {str(kept.get('studio_commit') or '')[:SHORT]}".strip()


def _patch_digest(run: Run) -> str:
    """Return a short digest of the uncommitted changes of a run: code of one commit may differ; "" where they were not
    kept."""
    try:
        return hashlib.sha256(files.read_bytes(run.folder / "code.patch", MAX_PATCH)).hexdigest()[:8]
    except OSError:
        return ""


def code_part(golden: Path, target: Path) -> Part | None:
    """Compare the code of the runs that two sides lie in; None where nothing of it is known of both."""
    runs = runs_of_sides(golden, target)
    rows = list(_rows(*map(read_code, runs))) if runs else []
    return part("code", OPTIONS_HEADER, rows) if rows else None


def _rows(golden: Code, target: Code) -> Iterator[CheckRow]:
    """Yield a row for the studio, for the commits, for each source file that differs, and for how many do not."""
    for name, a, b in (("studio", golden.studio, target.studio), ("commit", golden.commit, target.commit)):
        if a and b:
            yield CheckRow("pass" if a == b else "warning", (name, a, b))
    if golden.sources is None or target.sources is None:
        return
    differing = _differing(golden.sources, target.sources)
    for path in differing:
        yield CheckRow("warning", (path, golden.sources.get(path, ""), target.sources.get(path, "")))
    equal = len((golden.sources.keys() & target.sources.keys()) - set(differing))
    if equal:
        yield CheckRow("pass", ("source files", str(equal), str(equal)))


def _differing(golden: dict[str, str], target: dict[str, str]) -> list[str]:
    """Return the paths whose content differs, and code that one side alone has: a training may write settings."""
    paths = sorted(golden.keys() | target.keys())
    return [
        path
        for path in paths
        if golden.get(path) != target.get(path) and (is_code(path) or (path in golden and path in target))
    ]


def uncovered_code(golden: Path, target: Path) -> tuple[Sentence, ...]:
    """Return of which side the code is not known, and which files could not be read on either; nothing where a side is
    no run of the studio."""
    codes = [read_code(run) for run in runs_of_sides(golden, target) or ()]
    unknown = [side for side, code in zip("AB", codes, strict=False) if not code.is_known]
    sentences = [Sentence(key="precision.config.code_unknown", args={"side": side}) for side in unknown]
    unread = sorted({path for code in codes for path, digest in (code.sources or {}).items() if not digest})
    if unread:
        args = {"count": len(unread), "files": ", ".join(unread[:MOST_FILES])}
        sentences.append(Sentence(key="precision.config.code_unread", args=args))
    return tuple(sentences)
