"""The way into unmodified scripts: sitecustomize, waiting for imports, and what is told where nothing was seen."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from studio.paths import GUEST
from tests.packages import skip_without

OLDER = [path for path in (Path(f"/root/.pyenv/versions/{v}/bin/python") for v in ("2.7.18", "3.6.15", "3.7.16"))]
SAY_HIDDEN = "import sys, sitecustomize; print(sitecustomize.__file__, getattr(sys, 'by_the_user', ''))"


class Script:
    """What running a line in a run, with the curves wanted, came to."""

    def __init__(self, line: list[str], run: Path, cwd: Path, hooks: str = "curves", **environment: str) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        kept |= {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": str(run), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
        kept |= {"ASCEND_STUDIO_HOOKS": hooks} if hooks else {}
        done = subprocess.run(
            line, env=kept | environment, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
        )
        self.run = run
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        lines = [line for path in sorted(run.glob("events*")) for line in path.read_text("utf-8").splitlines()]
        self.records: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def why(self) -> list[str]:
        """What its processes left for the worker."""
        left = self.run / "nothing_seen.a1"
        return left.read_text("utf-8").split() if left.exists() else []


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def ran(run: Path, script: str, *words: str, **settings: str) -> Script:
    path = run.parent / "script.py"
    path.write_text(script)
    return Script([sys.executable, *words, str(path)], run, run.parent, **settings)


def beside(run: Path, name: str, text: str) -> str:
    """A PYTHONPATH with the guest first, then a folder of the user's own that has this file."""
    folder = run.parent / "own"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return os.pathsep.join((str(GUEST), str(folder)))


@pytest.mark.parametrize("hooks", ["", "curves"])
def test_that_the_users_own_sitecustomize_runs_as_if_alone(run: Path, hooks: str) -> None:
    paths = beside(run, "sitecustomize.py", "import sys\nsys.by_the_user = __name__\n")
    script = ran(run, SAY_HIDDEN, PYTHONPATH=paths, hooks=hooks)
    assert script.out.split() == [str(run.parent / "own" / "sitecustomize.py"), "sitecustomize"], script.err


def test_that_an_error_in_the_users_sitecustomize_is_told_by_python_as_ever(run: Path) -> None:
    script = ran(run, "print('trained')", PYTHONPATH=beside(run, "sitecustomize.py", "raise OSError('broken here')"))
    assert script.out == "trained\n"
    assert "broken here" in script.err
    assert script.why() == ["hooks.why.no_framework"]


@pytest.mark.parametrize("flag", ["-S", "-I", "-E"])
def test_that_a_python_that_ignores_us_runs_without_hooks(run: Path, flag: str) -> None:
    script = ran(run, "print('trained')", flag)
    assert (script.code, script.out, script.err, script.records) == (0, "trained\n", "", [])


def test_that_without_hooks_wanted_nothing_of_ours_is_imported(run: Path) -> None:
    script = ran(run, "import sys\nprint([name for name in sys.modules if 'ascend' in name])", hooks="")
    assert (script.out, script.records) == ("[]\n", [])


def test_that_a_broken_guest_does_not_stop_a_training(run: Path) -> None:
    paths = beside(run, "ascend_studio.py", "raise SyntaxError('cut off')").split(os.pathsep)
    script = ran(run, "print('trained')", PYTHONPATH=os.pathsep.join([paths[1], paths[0]]))
    assert (script.code, script.out, script.err) == (0, "trained\n", "")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('no training')", ["hooks.why.no_framework"]),
        ("import sys; sys.exit()", ["hooks.why.no_framework"]),
        ("import os; os.chdir('/'); os.closerange(3, 50)", ["hooks.why.no_framework"]),
        ("import os; os.fork() or exit()", ["hooks.why.no_framework"]),
        ("import sys; sys.stdout = sys.stderr = None", ["hooks.why.no_framework"]),
        ("import ascend_studio; ascend_studio.metric(1, loss=2.0)", []),
        ("import os; os._exit(0)", []),
        ("import os; os.environ.clear()", []),
    ],
)
def test_that_a_script_that_gives_nothing_leaves_why(run: Path, script: str, why: list[str]) -> None:
    done = ran(run, script)
    assert (done.code, done.err, done.why()) == (0, "", why)


def test_that_torch_without_a_backward_says_so(run: Path) -> None:
    skip_without("torch")
    script = ran(run, "import torch; torch.nn.Linear(2, 2)(torch.ones(1, 2))")
    assert script.why() == ["hooks.why.no_backward"], script.err


def test_that_what_many_processes_say_stands_there_once(run: Path) -> None:
    script = ran(run, "import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass'], check=True)")
    assert len(script.why()) == 1


def test_that_a_process_that_calls_exec_says_it_at_its_end(run: Path) -> None:
    script = ran(run, "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])")
    assert (script.out, len(script.why())) == ("1\n", 1)


def test_that_children_with_a_path_of_their_own_are_left_alone(run: Path) -> None:
    child = "import sys; print([name for name in sys.modules if 'ascend' in name])"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], env={{'PYTHONPATH': ''}})"
    assert ran(run, start).out == "[]\n"


def test_that_an_install_runs_once_the_module_is_whole(run: Path) -> None:
    paths = beside(run, "framework.py", "import part_of_it\nvalue = 7\n")
    beside(run, "part_of_it.py", "")
    script = """
from ascend_studio import hooks
hooks.after_import("framework", lambda module: print("installed", module.value))
hooks.after_import("part_of_it", lambda module: print("installed part"))
hooks.after_import("absent", print)
print("before")
import framework, framework
hooks.after_import("framework", lambda module: print("at once", module.value))
try:
    import absent
except ImportError as error:
    print(error)
"""
    out = ran(run, script, PYTHONPATH=paths).out.splitlines()
    assert out == ["before", "installed part", "installed 7", "at once 7", "No module named 'absent'"]


def test_that_an_install_that_fails_is_told_and_the_import_is_not_harmed(run: Path) -> None:
    paths = beside(run, "framework.py", "value = 7")
    script = """
from ascend_studio import hooks
hooks.after_import("framework", lambda module: int("not this one"))
import framework
print(framework.value)
"""
    done = ran(run, script, PYTHONPATH=paths)
    assert done.out == "7\n"
    (told,) = [record for record in done.records if record["rule"] == "hooks.given_up"]
    assert told["args"] == {
        "what": "framework",
        "reason": "ValueError: invalid literal for int() with base 10: 'not this one'",
    }


def test_that_what_failed_is_switched_off_and_told_once(run: Path) -> None:
    script = """
from ascend_studio import hooks
calls = []
def wrong(value):
    calls.append(value)
    raise ValueError(value)
safe = hooks.guarded("curves")(wrong)
print(safe(1), safe(2), calls, hooks.is_off("curves"), hooks.is_off("captures"))
"""
    done = ran(run, script)
    assert done.out == "None None [1] True False\n"
    assert [record["rule"] for record in done.records] == ["hooks.given_up"]
    assert done.why() == ["hooks.why.given_up"]


def test_that_listeners_hear_of_each_step_until_they_fail(run: Path) -> None:
    script = """
from ascend_studio import hooks
hooks.on_step("one", lambda step: print(step, 6 // (3 - step)))
hooks.on_step("other", lambda step: print("other", step))
for step in range(1, 5):
    hooks.stepped(step)
"""
    assert ran(run, script).out == "1 3\nother 1\n2 6\nother 2\nother 3\nother 4\n"


def test_that_two_that_wait_for_one_module_fail_alone(run: Path) -> None:
    paths = beside(run, "framework.py", "")
    script = """
from ascend_studio import hooks
hooks.after_import("framework", hooks.guarded("one")(lambda module: 1 / 0))
hooks.after_import("framework", hooks.guarded("other")(lambda module: print("installed")))
import framework
"""
    done = ran(run, script, PYTHONPATH=paths)
    assert (done.out, [record["args"]["what"] for record in done.records]) == ("installed\n", ["one"])


def test_that_a_torch_without_what_is_wrapped_is_told_and_trains(run: Path) -> None:
    """As 1.11 is, where the optimizers have no hooks."""
    paths = beside(
        run,
        "torch.py",
        """
import sys, types
__version__ = "1.11.0"
sys.modules["torch.optim.optimizer"] = types.ModuleType("torch.optim.optimizer")
is_grad_enabled = bool
jit = autograd = types.SimpleNamespace()
distributed = None
""",
    )
    done = ran(run, "import torch; print(torch.__version__)", PYTHONPATH=paths, hooks="curves,captures")
    assert (done.code, done.out, done.err) == (0, "1.11.0\n", "")
    (told,) = done.records
    assert (told["args"]["what"], "1.11.0" in told["args"]["reason"]) == ("curves", True)
    assert done.why() == ["hooks.why.given_up"]


@pytest.mark.parametrize("python", OLDER, ids=str)
def test_that_an_older_python_starts_as_ever(run: Path, python: Path) -> None:
    if not python.exists():
        pytest.skip(f"no {python} here")
    script = Script([str(python), "-c", "print('trained')"], run, run)
    assert (script.code, script.out, script.err) == (0, "trained\n", "")


@pytest.mark.parametrize("path", sorted(GUEST.rglob("*.py")), ids=lambda path: path.stem)
def test_that_the_guest_is_python_37_and_imports_the_standard_library_only(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 7))
    names = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    at_hand = {"torch.optim", "torch.utils.data"}  # torch has imported them itself
    assert {name.split(".")[0] for name in names if name not in at_hand} <= sys.stdlib_module_names | {"ascend_studio"}
