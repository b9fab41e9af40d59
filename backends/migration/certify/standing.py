"""Whether a certificate is in force, by the state of both projects as they are now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.migration.certify.certificate import read_certificate, stale_file
from studio import run as runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.certify.certificate import Certificate
    from studio.run import Run

Standing = Literal["granted", "refused", "stale", "other"]
"""stale: a file of either project changed since; other: it is of another copy than the newest migration's."""
STANDING_TEXTS: dict[Standing, str] = {
    "granted": "migration.proof.granted",
    "refused": "migration.proof.refused",
    "stale": "migration.proof.stale",
    "other": "migration.proof.other",
}
MAX_RUNS = 20


@dataclass(frozen=True, kw_only=True)
class StandingCertificate:
    """`stale`: the file that changed, "" where none did; `target`: the folder that the newest migration wrote, where
    the certificate is not of that, else ""."""

    certificate: Certificate
    stale: str = ""
    target: str = ""

    @property
    def standing(self) -> Standing:
        if self.target:
            return "other"
        if not self.certificate.granted:
            return "refused"
        return "stale" if self.stale else "granted"


def newest_standing(certify_runs: Iterable[Run], target: str) -> StandingCertificate | None:
    """Return the newest certificate of the folder that a migration wrote, else the newest of all. `certify_runs`:
    newest first; `target`: "" where no migration wrote a folder. Reads files, so not for the UI thread."""
    read = [read_certificate(run.folder) for run, _ in zip(certify_runs, range(MAX_RUNS), strict=False)]
    certificates = [certificate for certificate in read if certificate is not None]
    own = [certificate for certificate in certificates if not target or _is_same(certificate.migrated, target)]
    chosen = next(iter(own or certificates), None)
    if chosen is None:
        return None
    return StandingCertificate(certificate=chosen, stale=stale_file(chosen), target="" if own else target)


def _is_same(first: str, second: str) -> bool:
    return Path(first).resolve() == Path(second).resolve()


def certificate_of_project(folder: Path, run: Run) -> StandingCertificate | None:
    """Return the newest certificate of a project as the original or the result, among the runs beside `run`."""
    certify_runs = [other for other in runs.runs_in(run.folder.parent) if other.request.command == "certify"]
    for other in certify_runs[:MAX_RUNS]:
        certificate = read_certificate(other.folder)
        if certificate is not None and any(
            _is_same(one, str(folder)) for one in (certificate.original, certificate.migrated)
        ):
            return StandingCertificate(certificate=certificate, stale=stale_file(certificate))
    return None
