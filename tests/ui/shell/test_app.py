"""The program itself, in a process of its own: it opens, closes at Ctrl+C, and says why it cannot open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

import pytest

from studio import processes, texts
from studio.errors import StudioError
from studio.paths import ROOT
from studio.security import trust
from tests.runs import wait_for
from ui.shell import display

if TYPE_CHECKING:
    from pathlib import Path


def window(*words: str, **environ: str) -> subprocess.Popen[str]:
    env = os.environ | {"PYTHONPATH": str(ROOT)} | environ
    return subprocess.Popen(
        [sys.executable, "-m", "studio", "window", *words],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_that_a_signal_closes_the_window_and_what_it_knew_is_kept(
    tmp_path: Path, homes: Path, number: signal.Signals
) -> None:
    project = tmp_path / "项目"
    project.mkdir()
    process = window(str(project))
    kept = homes / "config" / "ascend-studio" / "settings.json"
    try:
        wait_for(lambda: kept.exists() and "项目" in kept.read_text(), "the window is open")
        process.send_signal(number)
        out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert (process.returncode, "Traceback" in err, out) == (0, False, "")


ASKS = """
import functools, pathlib, sys
from PySide6.QtCore import QTimer
from studio import interpreters
from ui.app import open_window

interpreters.probe = functools.partial(interpreters.probe, seconds=3000)
folder = pathlib.Path(sys.argv[1])

def look():
    if (folder / "asked").exists():
        shell.close()
    elif card.try_button.isEnabled() and (rows := [row for row in card.rows if row.path.is_relative_to(folder)]):
        card.rows = rows
        card.try_them()

app, shell = open_window(folder)
shell.session.open_project(folder)
card = shell.page_widget("launch").own().interpreters
timer = QTimer(interval=20)
timer.timeout.connect(look)
timer.start()
sys.exit(app.exec())
"""


def test_that_closing_the_window_ends_an_interpreter_that_is_being_asked(tmp_path: Path) -> None:
    venv.create(tmp_path / ".venv", with_pip=False, symlinks=True)
    packages = next((tmp_path / ".venv" / "lib").glob("python3*/site-packages"))
    (packages / "torch-2.9.0.dist-info").mkdir()
    asked = tmp_path / "asked"
    (packages / "torch.py").write_text(
        f"import os, time\nopen({str(asked)!r} + '.new', 'w').write(str(os.getpid()))\n"
        f"os.rename({str(asked)!r} + '.new', {str(asked)!r})\ntime.sleep(3000)\n"
    )
    trust.set_trust(tmp_path, True)
    line = [sys.executable, "-c", ASKS, str(tmp_path)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    child = int(asked.read_text())
    wait_for(lambda: (found := processes.process(child)) is None or found.state == "Z", "the child has gone")


def test_that_no_screen_is_a_sentence() -> None:
    process = window(QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err.count("\n")) == (1, 1)
    assert "There is no display" in err


def test_that_a_screen_that_does_not_answer_is_a_sentence() -> None:
    process = window(QT_QPA_PLATFORM="", DISPLAY=":4711", WAYLAND_DISPLAY="")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1
    assert ":4711 does not answer" in err


def test_that_a_missing_system_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "platforms").mkdir()
    (tmp_path / "platforms" / "libqxcb.so").write_bytes(b"\x7fELF")
    with pytest.raises(StudioError) as caught:
        display.check_plugin(tmp_path, "")
    assert caught.value.key == "app.no_library"


def test_that_the_window_opens_without_numpy_and_pyqtgraph(tmp_path: Path) -> None:
    script = (
        "import sys; from ui.app import open_window; import ui.shell.window\n"
        "heavy = lambda: sorted({'numpy', 'pyqtgraph', 'mindspore'} & set(sys.modules))\n"
        "ui.shell.window.Shell._begin = lambda self: (print(heavy()), self.close())\n"
        "app, shell = open_window(); sys.exit(app.exec())\n"
    )
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_that_a_language_asked_for_goes_before_the_remembered_one(tmp_path: Path) -> None:
    (tmp_path / "ascend-studio").mkdir()
    (tmp_path / "ascend-studio" / "settings.json").write_text('{"language": "en"}')
    script = (
        "import sys, studio.__main__, ui.shell.window; from studio.texts import t\n"
        "ui.shell.window.Shell._begin = lambda self: (print(t('launch.start')), self.close())\n"
        "sys.argv = ['ascend-studio', '--language', 'zh', 'window']; sys.exit(studio.__main__.main())\n"
    )
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    line = [sys.executable, "-c", script]
    done = subprocess.run(line, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, texts.all_texts("zh")["launch.start"] + "\n"), done.stderr
