"""Certificates whose rehearsals are forks of one process, and which share the rehearsal of an original."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.common.rehearsal import read_report
from backends.launch.rehearse.spec import RehearseSpec
from backends.launch.rehearse.work import rehearsal_command, report_end
from backends.migration.certify import rehearsals
from backends.migration.certify.certificate import Rehearsal, read_certificate
from backends.migration.certify.spec import CertifySpec
from backends.migration.certify.work import Certification, outcome_of_rehearsal
from studio import run as runs
from studio import schema
from studio.events import Ended, Journal
from studio.paths import GUEST

if TYPE_CHECKING:
    from backends.migration.certify.certificate import Certificate
    from backends.migration.certify.checks import RehearsalOutcome
    from backends.migration.certify.copies import ProjectCopy
    from studio.run import Run

LINE = ("python", "train.py")


class Server:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-W", "ignore", str(Path(__file__).with_name("server.py")), str(GUEST)),
            env=os.environ | {"OMP_NUM_THREADS": "1"}, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


class ForkedCertification(Certification):
    """As the product makes one, but that a rehearsal is a fork, not a run with a worker of its own."""

    server: Server
    originals: dict[str, RehearsalOutcome]

    def rehearse(
        self, copy: ProjectCopy, stance: str, npu_device: str = "auto", line: tuple[str, ...] = ()
    ) -> RehearsalOutcome:
        key = f"{stance} {copy.source} {' '.join(line or self.line)}" if copy is self.copies[0] else ""
        if key in self.originals:
            return self.originals[key]
        copy.make(line or self.line)
        values = rehearsals.rehearsal_values(self.spec, stance, *self.line_in(copy, line or self.line), npu_device)
        run = runs.create(self.run.folder.parent, rehearsals.REHEARSE_COMMAND, values, copy.top)
        spec, _ = schema.from_json(RehearseSpec, values)
        command = rehearsal_command(spec, run)
        began = time.monotonic()
        code = self.server.run({
            "argv": list(command.argv[1:]), "cwd": str(command.cwd), "log": str(run.log),
            "env": {**os.environ, **command.env, "ASCEND_STUDIO_RUN": str(run.folder), "ASCEND_STUDIO_ATTEMPT": "1"},
        })  # fmt: skip
        ended = report_end(spec, run, Journal(run.folder, 1), Ended(code=code), "")
        report = read_report(run.folder)
        self.rehearsals.append(Rehearsal(run=run.name, code=ended.code, seconds=round(time.monotonic() - began, 1)))
        outcome = outcome_of_rehearsal(run, ended.code, report, copy)
        if key:
            self.originals[key] = outcome
        return outcome


class Forge:
    """Certifies pairs of folders, all of them beside each other under one folder."""

    def __init__(self, folder: Path) -> None:
        self._runs = folder / "runs"
        self._runs.mkdir(parents=True)
        self._server = Server()
        self._originals: dict[str, RehearsalOutcome] = {}

    def certify(self, original: Path, migrated: Path, *words: str, promise: str = "npu", cards: int = 1) -> Certificate:
        spec = CertifySpec()
        values = {"original": original, "migrated": migrated, "line": (*LINE, *words), "promise": promise,
                  "host_cards": cards, "workdir": original}  # fmt: skip
        for name, value in values.items():
            spec = schema.with_value(spec, name, value)
        run: Run = runs.create(self._runs, "certify", schema.to_json(spec), None)
        certification = ForkedCertification(spec, run, run.folder / "copies")
        certification.server, certification.originals = self._server, self._originals
        certification.certify()
        certificate = read_certificate(run.folder)
        assert certificate is not None
        return certificate

    def close(self) -> None:
        self._server.close()
