"""Captures with msprobe of before 26: other folders, other names of its modules, another config.json; run for real."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from backends.launch.capture import state
from studio import files
from tests.guest.capturing import ODD, TORCH, Training, operators

VERSIONS = ("8.3.3", "1.3.0")


@pytest.fixture(scope="session", params=VERSIONS)
def msprobe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for sys.path. MSPROBE_WHEELS names one with wheels; otherwise the package index is asked, 5 to 9 MB."""
    wanted = f"mindstudio-probe=={request.param}"
    given = os.environ.get("MSPROBE_WHEELS", "")
    folder = Path(given) if given else tmp_path_factory.mktemp("wheels")
    pattern = f"mindstudio_probe-{request.param}-*.whl"
    if not list(folder.glob(pattern)):
        line = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-q", "-d", str(folder)]
        try:
            subprocess.run([*line, wanted], stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"no wheel of {wanted} to be had: {error}")
    unpacked = tmp_path_factory.mktemp("msprobe")
    zipfile.ZipFile(next(folder.glob(pattern))).extractall(unpacked)
    return unpacked


def test_that_an_older_msprobe_dumps_from_the_first_step_with_the_same_settings(tmp_path: Path, msprobe: Path) -> None:
    request = state.Request(id="plan", kind="dump", start=1, steps=2, level="mix", task="md5", targets=("linear",))
    folder = tmp_path / ODD
    folder.mkdir()
    state.write_request(folder, request)
    training = Training(folder, f"import sys\nsys.path.insert(0, {str(msprobe)!r})\n{TORCH}", "16")
    found = training.captured("plan")
    assert found.state == "done", training.log()
    dumps = sorted((folder / found.path).rglob("dump.json"))
    assert [path.parent.parent.name for path in dumps] == ["step1", "step2"]
    for path in dumps:
        data = files.read_json(path)["data"]
        assert operators(path)[0] == "Functional.linear.0.forward"
        assert not [name for name in data if "relu" in name.lower()], "what was not asked for"
        assert data["Functional.linear.0.forward"]["output"][0]["md5"]
    again = training.capture(kind="dump", steps=1)
    assert (again.state, again.rule) == ("failed", "capture.once"), "it reads its configuration once"
    training.wait_for_steps(len(training.losses) + 2)
    assert training.finish() == 0
