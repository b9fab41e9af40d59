"""Scan one file, from bytes to a FileScan. Whatever goes wrong with it becomes a note."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan import cache
from backends.migration.scan.file_scan import FileScan, ScanNote
from backends.migration.scan.python.exports import ModuleExports, module_exports
from backends.migration.scan.source_kinds import LARGEST_TREE, max_bytes
from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file
from backends.migration.scan.text_scanner import scan_text

if TYPE_CHECKING:
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.project_files import SourceFile
    from backends.migration.scan.recording_exports import RecordingExports


class FilePreview(msgspec.Struct, frozen=True, kw_only=True):
    """What other modules need of a file before any is scanned. `problem`: why it cannot be read."""

    digest: bytes = b""
    exported: ModuleExports = ModuleExports()
    problem: ScanNote | None = None


class ScannedFile(msgspec.Struct, frozen=True, kw_only=True):
    """`digest`: of the content, empty where it could not be read. `questions`, `texts`: see RecordingExports."""

    scan: FileScan
    digest: bytes = b""
    questions: dict[str, str] = {}
    texts: dict[str, str | None] = {}


def preview_file(entry: SourceFile) -> FilePreview:
    try:
        data = read_regular_file(entry.real, max_bytes(entry.kind))
        exported = module_exports(entry.path, decode_source(data).text) if _has_tree(entry) else ModuleExports()
        return FilePreview(digest=cache.content_digest(data), exported=exported)
    except UnreadableFile as unread:
        return FilePreview(problem=ScanNote(path=entry.path, key=unread.key, args=unread.text_args))
    except Exception as error:
        return FilePreview(problem=_own_error_note(entry, error))


def _has_tree(entry: SourceFile) -> bool:
    return entry.kind == "python" and entry.size <= LARGEST_TREE


def scan_file(entry: SourceFile, exports: RecordingExports, facts: Facts) -> bytes:
    """Return a ScannedFile, encoded with msgpack since it may come from another process."""
    exports.start_file()
    try:
        data = read_regular_file(entry.real, max_bytes(entry.kind))
        scan = scan_text(entry.path, entry.kind, decode_source(data).text, exports, facts)
        scanned = ScannedFile(
            scan=scan, digest=cache.content_digest(data), questions=exports.questions, texts=exports.texts
        )
        return msgspec.msgpack.encode(scanned)
    except UnreadableFile as unread:
        note = ScanNote(path=entry.path, key=unread.key, args=unread.text_args)
    except Exception as error:
        note = _own_error_note(entry, error)
    return msgspec.msgpack.encode(ScannedFile(scan=FileScan(notes=(note,))))


def worker_failure_note(entry: SourceFile, failure: str) -> ScanNote:
    """Return the note on a file whose process "crashed" or "hung"."""
    return ScanNote(path=entry.path, key={"hung": "migration.note.hung"}.get(failure, "migration.note.crashed"))


def _own_error_note(entry: SourceFile, error: Exception) -> ScanNote:
    """Return the note on a file that our own code failed on; the scan of all others goes on."""
    return ScanNote(
        path=entry.path, key="migration.note.our_error", args={"reason": f"{type(error).__name__}: {error}"[:300]}
    )
