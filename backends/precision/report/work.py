"""A report, in the worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.precision.report.html import report
from backends.precision.sides import opened
from studio import files, texts
from studio import run as runs
from studio.errors import from_os
from studio.events import Artifact, Ended, Journal

if TYPE_CHECKING:
    from backends.precision.report.spec import ReportSpec
    from studio.run import Run

FILE = "artifacts/report.html"


def write_report(spec: ReportSpec, run: Run) -> Ended:
    """Raises StudioError."""
    shown = spec.shown
    language = texts.language() if shown.report_language == "system" else shown.report_language
    out = shown.out if shown.out.parts else run.folder / FILE
    page = report(opened(shown.comparison), runs.open_run(shown.comparison), language)
    try:
        files.write_whole(out, page)
    except OSError as error:
        raise from_os(error, out) from error
    Journal(run.folder, 1).write(Artifact(kind="report", path=str(out)))
    return Ended(code=0)


def answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    made = [one.path for one in runs.last_events(run.folder) if isinstance(one, Artifact)]
    return {"report": made[-1]} if made else {}
