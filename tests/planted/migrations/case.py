"""A migration under test: an original, its migrated text, and what a certificate has to say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.planted.migrations.originals import DATA, ORIGINALS

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.certify.certificate import Certificate, CheckName
    from tests.planted.migrations.forked import Forge


@dataclass(frozen=True, kw_only=True)
class MigrationCase:
    """`original`: a name in ORIGINALS; `text`: the migrated train.py; `kind`: of the planted mistake, "" for a good
    migration; `reasons`: the checks of which one has to refuse it; `is_short`: belongs to the short test; `files`:
    other files of the migrated project; `line`: words after the script; `cards`: of the pretended host; `promise`:
    as in the spec."""

    name: str
    original: str
    text: str
    kind: str = ""
    reasons: tuple[CheckName, ...] = ()
    is_short: bool = False
    files: tuple[tuple[str, str], ...] = ()
    line: tuple[str, ...] = ()
    cards: int = 1
    promise: str = "npu"

    def certify(self, forge: Forge, folder: Path) -> Certificate:
        """Write both projects and certify them; originals of one name share a folder and a rehearsal."""
        original = folder / "originals" / f"{self.original}-{self.cards}"
        migrated = folder / "migrated" / self.name.replace(" ", "-").replace("/", "-")
        for top, text, files in (
            (original, ORIGINALS[self.original], ()),
            (migrated, self.text, self.files),
        ):
            top.mkdir(parents=True, exist_ok=True)
            (top / "train.py").write_text(text)
            for name, content in (*DATA.get(self.original, {}).items(), *files):
                (top / name).write_text(content)
        return forge.certify(original, migrated, *self.line, promise=self.promise, cards=self.cards)

    def verdict(self, certificate: Certificate) -> str:
        """Return "" where the certificate says what it has to, else what it says."""
        failed = {check.name: check.reason for check in certificate.checks if check.state == "fail"}
        if not self.kind:
            return "" if certificate.granted else f"refused: {describe(certificate)}"
        if certificate.granted:
            return "granted"
        return "" if failed.keys() & set(self.reasons) else f"for another reason: {describe(certificate)}"


def describe(certificate: Certificate) -> str:
    failed = (check for check in certificate.checks if check.state == "fail")
    return "; ".join(
        f"{check.name} {check.path}:{check.line} {check.reason.key} {check.reason.args}" for check in failed
    )
