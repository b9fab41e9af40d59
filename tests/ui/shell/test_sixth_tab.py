"""A tab that nobody knows of: two folders of its own, and nothing edited outside them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from studio.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "backends/memory/__init__.py": """
from dataclasses import dataclass, field

from studio.feature import Action, Feature, PathOpener
from studio.schema import option


@dataclass(frozen=True, kw_only=True)
class Measure:
    size: int = option(2, low=1, high=9)


@dataclass(frozen=True, kw_only=True)
class MemorySpec:
    measure: Measure = field(default_factory=Measure)


FEATURE = Feature(
    id="memory",
    order=70,
    actions=(
        Action(
            name="memory", spec=MemorySpec, work="backends.memory.work:memory", answer="backends.memory.work:answer",
            doing="memory.doing",
        ),
    ),
    shows_runs="own",
    step="backends.memory.step:step",
    opens=(
        PathOpener(kind="snapshot", is_probable="backends.memory.step:is_snapshot", open="ui.memory.page:open_path"),
    ),
)
""",
    "backends/memory/work.py": """
from studio.events import Ended


def memory(spec, run):
    return Ended(code=0)


def answer(run):
    return {"size": run.request.values["measure"]["size"]}
""",
    "backends/memory/step.py": """
from studio.feature import Step
from studio.run import outcome_of


def step(project_runs):
    done = [run for run, glance in project_runs.runs
            if run.request.command == "memory" and outcome_of(glance) == "done"]
    return Step(key="memory.step_again" if done else "memory.step", is_done=bool(done), is_optional=True)


def is_snapshot(path):
    return path.name == "snapshot.bin"
""",
    "backends/memory/en.toml": """
[feature]
memory = "Memory"
[cli]
memory = "Measure memory"
[memory]
doing = "Measuring"
step = "Measure the memory"
step_text = "What the training allocates."
step_again = "Measure the memory once more"
step_again_text = "After a change."
help_heading = "What allocates"
[memory.did]
memory = "Memory report"
[memory.field]
size = "Size"
[memory.section]
measure = "Measure"
""",
    "backends/memory/help/en/11-memory.md": "# Memory\n\n## What allocates\n\nThe optimizer.\n",
    "ui/memory/__init__.py": "",
    "ui/memory/page.py": """
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from backends.memory import FEATURE
from ui.services.run_progress import RunProgress


def make_page(session):
    page = QWidget()
    page.setObjectName("page")
    page.opened = []
    column = QVBoxLayout(page)
    column.addWidget(QLabel("memory page"))
    column.addWidget(RunProgress(session, FEATURE.id, FEATURE.doing))
    return page


def open_path(page, path):
    page.opened.append(path.name)
""",
}
CHINESE = {"Memory": "内存", "Measure memory": "测量内存", "Memory report": "内存报告"}

PROGRAM = """
import sys
from pathlib import Path

sys.path.insert(0, {root!r})
import backends
import ui
from studio import worker

here = Path(__file__).parent
backends.__path__.append(str(here / "backends"))
ui.__path__.append(str(here / "ui"))
worker.MAIN = Path(__file__)
if sys.argv[1:] == ["window"]:
    from window import look

    look(here)
else:
    from studio.__main__ import main

    sys.exit(main())
"""

WINDOW = """
import json

from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from ui.app import open_window
from ui.services.run_titles import page_of, title_of


def look(here):
    app, shell = open_window()
    shell.session.trouble.connect(lambda error: print("TROUBLE", error))

    def read():
        if not shell.page:
            return
        timer.stop()
        seen = {"pages": shell.page_ids, "tab": shell.findChild(QPushButton, "rail_memory").accessibleName()}
        run = shell.session.listed[0][0]
        seen |= {"title": title_of(run), "shown_on": page_of(run)}
        shell.session.open_run(run)
        seen["page"] = [label.text() for label in shell.page_widget("memory").findChildren(QLabel)][:1]
        shell.open_path(here / "snapshot.bin")
        while not shell.page_widget("memory").opened:
            QTest.qWait(20)
        seen["opened"] = shell.page_widget("memory").opened
        seen["step"] = [(row.step.key, row.step.state) for row in shell.page_widget("home").journey._rows.values()
                        if row.step.id == "memory"]
        shell.session.show_help("memory.help_heading")
        help = shell.page_widget("help")
        seen["help"] = help.list.currentItem().text()
        shell.use_language("zh")
        seen["chinese"] = [shell.findChild(QPushButton, "rail_memory").accessibleName(), title_of(run)]
        print(json.dumps(seen, ensure_ascii=False))
        shell.close()

    timer = QTimer(interval=20)
    timer.timeout.connect(read)
    timer.start()
    app.exec()
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The studio as it is, with one more folder for its features and one more for their pages."""
    chinese = FILES["backends/memory/en.toml"]
    for english, translation in CHINESE.items():
        chinese = chinese.replace(f'"{english}"', f'"{translation}"')
    files = FILES | {
        "backends/memory/zh.toml": chinese,
        "backends/memory/help/zh/11-memory.md": "# 内存\n",
        "main.py": PROGRAM.format(root=str(ROOT)),
        "window.py": WINDOW,
        "snapshot.bin": "",
    }
    for name, text in files.items():
        (tmp_path / "sixth" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sixth" / name).write_text(text, encoding="utf-8")
    return tmp_path / "sixth" / "main.py"


def output(program: Path, *words: str) -> str:
    line = [sys.executable, str(program), *words]
    done = subprocess.run(line, cwd="/", capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return done.stdout


def test_that_a_tab_in_folders_of_its_own_has_all_that_a_tab_has(program: Path) -> None:
    help = output(program, "--help")
    assert "Measure memory" in help
    answer = json.loads(output(program, "memory", "--size", "3", "--json").splitlines()[-1])
    assert (answer["code"], answer["size"]) == (0, 3)
    seen = json.loads(output(program, "window").splitlines()[-1])
    assert seen["pages"][-2:] == ["memory", "help"]
    assert (seen["tab"], seen["title"], seen["shown_on"]) == ("Memory", "Memory report", "memory")
    assert seen["page"] == ["memory page"]
    assert seen["opened"] == ["snapshot.bin"]
    assert seen["step"] == [["memory.step_again", "done"]]
    assert seen["help"] == "Memory"
    assert seen["chinese"] == ["内存", "内存报告"]
