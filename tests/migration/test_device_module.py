"""The module of the explicit style that says which accelerator is there: who imports it, and that what does runs."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from backends.migration.migrate import undo
from backends.migration.migrate.changes import Decisions
from backends.migration.migrate.decisions import accepted_hunks
from backends.migration.migrate.replaced_files import edited_files
from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from backends.migration.migrate.work import apply_to_copy
from studio.errors import StudioError
from tests.guest.virtual_npu.two_cards import child
from tests.migration.plans import files_below, git, of, plan_project, planned_texts, project

if TYPE_CHECKING:
    from pathlib import Path

NAME = "npu_or_cuda.py"
USE = "import torch\nx = torch.ones(2).cuda()\n"
GUARD = 'if __name__ == "__main__":\n    print(x.device)\n'


def training(folder: Path) -> Path:
    """A script, a module beside it, one in a folder without __init__.py, and a package with relative imports."""
    project(
        folder,
        train__py=(
            "import torch\nimport data\nfrom lib.net import Net\nfrom pkg.deep.model import make\n"
            "net = Net().cuda()\ntorch.cuda.synchronize()\nif __name__ == '__main__':\n"
            "    out = make(net(torch.ones(2, 2).cuda()))\n"
            "    print(out.sum().item() == 0, out.device, data.x.device)\n"
        ),
        data__py=USE,
        lib___net__py=(
            "import torch\nfrom torch import nn\nclass Net(nn.Linear):\n    def __init__(self):\n"
            "        super().__init__(2, 2)\n        self.place = 'cuda'\n"
        ),
        pkg___deep___model__py="import torch\nfrom ..other import f\ndef make(x):\n    return f(x.cuda())\n",
        pkg___other__py="import torch\ndef f(x):\n    return x.to('cuda') * 0\n",
    )
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "pkg" / "deep" / "__init__.py").write_text("")
    return folder


def test_that_files_import_their_names_from_one_module_for_each_way_to_load_them(tmp_path: Path) -> None:
    texts = planned_texts(training(tmp_path), "explicit")
    lines = {path: next(line for line in text.splitlines() if "npu_or_cuda" in line) for path, text in texts.items()
             if not path.endswith(NAME)}  # fmt: skip
    assert lines == {
        "data.py": "from npu_or_cuda import DEVICE_TYPE",
        "lib/net.py": "from npu_or_cuda import DEVICE_TYPE",
        "train.py": "from npu_or_cuda import DEVICE_TYPE, accelerator",
        "pkg/other.py": "from .npu_or_cuda import DEVICE_TYPE",
        "pkg/deep/model.py": "from ..npu_or_cuda import DEVICE_TYPE",
    }
    assert "try:" not in "".join(text for path, text in texts.items() if not path.endswith(NAME))
    assert "accelerator" in texts[NAME]
    assert "accelerator =" not in texts[f"pkg/{NAME}"]


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")
@pytest.mark.parametrize(("host", "device"), [("npu", "npu:0"), ("cuda", "cpu")])
def test_that_a_project_with_the_module_runs_on_each_host(tmp_path: Path, host: str, device: str) -> None:
    (tmp_path / "run" / "artifacts").mkdir(parents=True)
    apply_to_copy(plan_project(training(tmp_path / "project"), "explicit"), tmp_path / "copy", tmp_path / "run")
    stance = {"ASCEND_STUDIO_HOOKS": f"curves,rehearse={host}", "ASCEND_STUDIO_REHEARSAL_NPU": "no"}
    done = child(tmp_path / "copy", "train.py", **stance)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", device, device]


@pytest.mark.parametrize(
    "files",
    [
        {"train__py": USE + GUARD},
        {"train__py": USE + GUARD, "sub___train__py": USE + GUARD},
        {"a___x__py": USE, "b___y__py": USE},
        {"a___x__py": USE, "a___y__py": USE},
        {"train__py": f"import a.x, a.y\n{USE}{GUARD}", "a___x__py": USE, "a___main__py": f"import x\n{GUARD}"},
        {"a___x__py": USE + GUARD, "a___y__py": USE + GUARD, "run__sh": "python -m a.x\npython -m a.y\n"},
    ],
)  # fmt: skip
def test_that_a_file_alone_or_loaded_in_an_unknown_way_keeps_the_lines(tmp_path: Path, files: dict[str, str]) -> None:
    texts = planned_texts(project(tmp_path, **files), "explicit")
    lone = {path: text for path, text in texts.items() if "npu_or_cuda" not in text and not path.endswith(NAME)}
    assert lone
    assert all("import torch_npu" in text for text in lone.values())
    for path, text in texts.items():
        assert "npu_or_cuda" not in text or (tmp_path / path).parent == tmp_path


def test_that_a_package_whose_members_run_as_scripts_has_no_relative_import(tmp_path: Path) -> None:
    project(tmp_path, pkg___train__py=f"import net\n{USE}{GUARD}", pkg___net__py=USE)
    (tmp_path / "pkg" / "__init__.py").write_text("")
    texts = planned_texts(tmp_path, "explicit")
    assert "from npu_or_cuda import DEVICE_TYPE" in texts["pkg/train.py"]
    assert f"pkg/{NAME}" in texts


def test_that_a_name_that_a_file_uses_is_bound_to_another(tmp_path: Path) -> None:
    project(tmp_path, train__py=f"import other\nimport torch\nDEVICE_TYPE = 1\nx = x.cuda()\n{GUARD}", other__py=USE)
    text = planned_texts(tmp_path, "explicit")["train.py"]
    assert "from npu_or_cuda import DEVICE_TYPE as ACCELERATOR_TYPE\n" in text
    assert "x = x.to(ACCELERATOR_TYPE)\n" in text


def test_that_the_module_is_written_only_where_a_file_that_imports_it_is_edited(tmp_path: Path) -> None:
    changes = plan_project(project(tmp_path, train__py=f"import other\n{USE}{GUARD}", other__py=USE), "explicit")
    (module,) = [hunk for hunk in changes.hunks() if hunk.path == NAME]
    edits = [hunk.id for hunk in changes.hunks() if ".cuda()" in hunk.before]
    kept = accepted_hunks(changes, Decisions(reject=(edits[0],)))
    assert module.id in {hunk.id for hunk in kept}
    assert accepted_hunks(changes, Decisions(reject=tuple(edits))) == ()
    assert accepted_hunks(changes, Decisions(reject=(module.id,))) == ()


def test_that_a_second_migration_uses_the_module_that_is_there(tmp_path: Path) -> None:
    folder = project(tmp_path, train__py=f"import other\n{USE}{GUARD}", other__py=USE)
    for path, text in planned_texts(folder, "explicit").items():
        (folder / path).write_text(text)
    assert planned_texts(folder, "explicit") == {}
    (folder / "more.py").write_text(USE + GUARD)
    assert planned_texts(folder, "explicit") == {
        "more.py": "import torch\nfrom npu_or_cuda import DEVICE_TYPE\nx = torch.ones(2).to(DEVICE_TYPE)\n" + GUARD
    }
    (folder / NAME).write_text("mine = 1\n")
    assert "import torch_npu" in planned_texts(folder, "explicit")["more.py"]


def test_that_the_module_comes_and_goes_with_a_copy_and_a_branch(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", train__py=f"import other\n{USE}{GUARD}", other__py=USE)
    before = files_below(folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    for result in (Result(into=tmp_path / "copy"), Result(branch="npu")):
        run, code = of(tmp_path, MigrateSpec(migrated=Migrated(path=folder, style="explicit"), result=result))
        assert code == 0
        if result.branch:
            assert NAME in git(folder, "ls-tree", "--name-only", "npu").split()
            assert git(folder, "status", "--porcelain") == ""
        else:
            assert NAME in files_below(tmp_path / "copy")
        undo.undo_migration(run.folder)
    assert files_below(tmp_path / "copy") == before
    assert git(folder, "branch", "--list", "npu") == ""


def test_that_a_file_that_took_the_name_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    folder = project(tmp_path, train__py=f"import other\n{USE}{GUARD}", other__py=USE)
    changes = plan_project(folder, "explicit")
    (folder / NAME).write_text("mine = 1\n")
    with pytest.raises(StudioError):
        edited_files(changes, folder)


def test_that_a_package_with_a_module_of_its_own_name_is_imported_as_a_package(tmp_path: Path) -> None:
    """As denoising_diffusion_pytorch: the module stood in the package, and was imported as if beside the script."""
    project(
        tmp_path,
        net___net__py=USE,
        net___other__py="import torch\nfrom net.net import x\nfrom net.third import z\ny = x.cuda()\n",
        net___third__py="import torch\nz = torch.ones(1).cuda()\n",
        train__py="import torch\nfrom net import y\nprint(y.cuda().device)\n",
    )
    (tmp_path / "net" / "__init__.py").write_text("from net.other import y\n")
    texts = planned_texts(tmp_path, "explicit")
    (module,) = {path for path in texts if path.endswith(NAME)}
    assert module == f"net/{NAME}"
    imports = {path: [line for line in text.splitlines() if "npu_or_cuda" in line] for path, text in texts.items()}
    assert imports["net/net.py"] == imports["net/third.py"] == ["from .npu_or_cuda import DEVICE_TYPE"]
