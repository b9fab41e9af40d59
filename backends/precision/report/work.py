"""A report, in the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.precision.report.html import report
from backends.precision.sides import open_comparison_run
from studio import files, texts
from studio import run as runs
from studio.errors import from_os
from studio.events import Artifact, Ended, Journal

if TYPE_CHECKING:
    from backends.precision.report.spec import ReportSpec
    from studio.run import Run

REPORT_FILE = "artifacts/report.html"


def write_report(spec: ReportSpec, run: Run) -> Ended:
    """Raises StudioError."""
    sources = spec.shown
    language = texts.language() if sources.report_language == "system" else sources.report_language
    out = sources.out if sources.out.parts else run.folder / REPORT_FILE
    page = report(open_comparison_run(sources.comparison), runs.open_run(sources.comparison), language)
    try:
        files.write_whole(out, page)
    except OSError as error:
        raise from_os(error, out) from error
    Journal(run.folder, 1).write(Artifact(kind="report", path=str(out)))
    return Ended(code=0)


def report_answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    paths = [event.path for event in runs.last_events(run.folder) if isinstance(event, Artifact)]
    return {"report": paths[-1]} if paths else {}
