"""Projects that run something where somebody only looks at them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.prove.support.hostile.run_folders import ESCAPES
from tests.prove.support.hostile.trial import Trap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.prove.support.hostile.trial import Place

CODE = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nprint(model(torch.ones(2).cuda()))\n"


def modules(place: Place) -> tuple[str, ...]:
    """Modules of the names that the studio and its libraries import."""
    for name in ("json", "re", "numpy", "torch", "msgspec", "sitecustomize", "usercustomize", "conftest", "setup"):
        (place.hostile / f"{name}.py").write_text(place.python(name), encoding="utf-8")
    for name in ("studio", "backends", "ui", "PySide6", "libcst"):
        (place.hostile / name).mkdir()
        (place.hostile / name / "__init__.py").write_text(place.python(name), encoding="utf-8")
        (place.hostile / name / "__main__.py").write_text(place.python(name), encoding="utf-8")
    return (sys.executable, "-c", "import json")


def environments(place: Place) -> tuple[str, ...]:
    """Virtual environments whose interpreter is a script, and whose site-packages run code at a start."""
    for name in (".venv", "venv", "env"):
        folder = place.hostile / name
        packages = folder / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True)
        for python in ("python", "python3", "python3.11"):
            place.script(folder / "bin" / python, f"{name}-{python}")
        (folder / "pyvenv.cfg").write_text(f"home = {folder}/bin\nversion = 3.11.9{ESCAPES}\n", encoding="utf-8")
        (packages / "x.pth").write_text(f"import sys; exec({place.python('pth')!r})\n", encoding="utf-8")
        for info in ("torch-2.1.0.dist-info", "torch_npu-2.1.0.dist-info", "mindspore-2.3.0.dist-info"):
            (packages / info).mkdir()
        (packages / "msprobe").mkdir()
        (packages / "msprobe" / "__init__.py").write_text(place.python("msprobe"), encoding="utf-8")
    for name in ("git", "npu-smi", "python3"):
        place.script(place.hostile / name, name)
    return (str(place.hostile / ".venv" / "bin" / "python"),)


def builds(place: Place) -> tuple[str, ...]:
    """Files that build tools, editors and loaders run."""
    texts = {
        "setup.py": place.python("setup"),
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[tool.pytest.ini_options]\naddopts = "-p conftest"\n',
        "backend.py": place.python("backend"),
        "Makefile": f"all:\n\tid >> {place.canaries}/make\n$(shell id >> {place.canaries}/make2)\n",
        "config.yaml": f'a: !!python/object/apply:os.system ["id >> {place.canaries}/yaml"]\n{ESCAPES}: 1\n',
        "tox.ini": "[pytest]\naddopts = -p conftest\n",
        "requirements.txt": f"torch==2.1.0\n--extra-index-url file://{place.hostile}\n-e .\n{ESCAPES}\n",
        "environment.yml": "name: x\ndependencies:\n  - pip:\n    - -e .\n",
        "run.sh": f"torchrun $(id >> {place.canaries}/shell) train.py `id >> {place.canaries}/shell2`\n",
        "Dockerfile": f"FROM nvidia/cuda\nRUN id >> {place.canaries}/docker\n",
        ".pre-commit-config.yaml": "repos: []\n",
        "model/config.json": json.dumps({"auto_map": {"AutoModel": "modeling.Model"}, "trust_remote_code": True}),
        "model/modeling.py": place.python("remote-code"),
        "model/tokenizer_config.json": json.dumps({"auto_map": {"AutoTokenizer": ["modeling.T", None]}}),
        "book.ipynb": json.dumps(_notebook(place)),
        f"=1+1{ESCAPES}\n<img src=x>.py": CODE,
        "deep.py": "x = " + "(" * 2000 + ")" * 2000 + "\ny = " + "-" * 50_000 + "1\n",
        "deep.json": "[" * 100_000,
        "deep.yaml": "[" * 50_000,
        "coding.py": "# -*- coding: unicode_escape -*-\nx = 1\n",
    }
    for name, text in texts.items():
        path = place.hostile / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    os.mkfifo(place.hostile / "pipe.py")
    return ("make", "-n")


def _notebook(place: Place) -> dict[str, object]:
    code = ["!id >> x\n", "%run train.py\n", "import torch\n", "torch.ones(1).cuda()\n", place.python("notebook")]
    output = {"output_type": "display_data", "data": {"text/html": "<script>1</script>"}, "metadata": {}}
    cells = [{"cell_type": "code", "source": code, "outputs": [output], "metadata": {}, "execution_count": 1}]
    return {"cells": cells, "metadata": {"kernelspec": {"name": "evil"}}, "nbformat": 4, "nbformat_minor": 5}


def links(place: Place) -> tuple[str, ...]:
    """Code that is a link to a file of the user, and folders that lead out."""
    (place.outside / "model.py").write_text(CODE, encoding="utf-8")
    (place.outside / "folder" / "inside.py").write_text(CODE, encoding="utf-8")
    (place.hostile / "linked.py").symlink_to(place.outside / "model.py")
    (place.hostile / "package").symlink_to(place.outside / "folder")
    (place.hostile / "loop").symlink_to(place.hostile)
    return ()


def studio_folder_is_link(place: Place) -> tuple[str, ...]:
    (place.hostile / ".ascend-studio").symlink_to(place.outside / "folder")
    return ()


def runs_folder_is_link(place: Place) -> tuple[str, ...]:
    (place.hostile / ".ascend-studio").mkdir()
    (place.hostile / ".ascend-studio" / "runs").symlink_to(place.outside / "folder")
    return ()


def ignore_is_link(place: Place) -> tuple[str, ...]:
    (place.hostile / ".ascend-studio").mkdir()
    (place.hostile / ".ascend-studio" / ".gitignore").symlink_to(place.outside / "new")
    return ()


# git


def git(folder: Path, *words: str) -> None:
    line = ("git", "-c", "user.name=x", "-c", "user.email=x@x", "-C", str(folder), *words)
    subprocess.run(line, check=True, capture_output=True, env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"})


def repository(place: Place) -> Path:
    """Make a repository with one commit and an uncommitted change, so that a diff looks at contents."""
    git(place.hostile, "init", "-b", "main")
    git(place.hostile, "add", "train.py")
    git(place.hostile, "commit", "-m", ESCAPES)
    (place.hostile / "train.py").write_text(f"{CODE}# changed\n", encoding="utf-8")
    return place.hostile / ".git" / "config"


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


GIT_WRITES = tuple(f"hostile/{name}/{part}*" for name in (".git", "real.git") for part in ("objects", "refs", "logs"))
"""What a new branch writes."""
DIFF = ("git", "-c", "safe.directory=*", "diff", "HEAD")
STATUS = ("git", "-c", "safe.directory=*", "status")


def _filter(place: Place, name: str) -> tuple[str, ...]:
    config = repository(place)
    script = place.script(place.hostile / "filter.sh")
    _append(config, f'[filter "{name}"]\n\tclean = {script}\n\tsmudge = {script}\n\tprocess = {script}\n')
    (place.hostile / ".git" / "info" / "attributes").write_text(f"*.py filter={name}\n", encoding="utf-8")
    return DIFF


def clean_filter(place: Place) -> tuple[str, ...]:
    return _filter(place, "x")


def odd_filter(place: Place) -> tuple[str, ...]:
    return _filter(place, "a=b")


def submodule_filter(place: Place) -> tuple[str, ...]:
    repository(place)
    inside = place.hostile / "sub"
    inside.mkdir()
    (inside / "train.py").write_text(CODE, encoding="utf-8")
    git(inside, "init", "-b", "main")
    git(inside, "add", ".")
    git(inside, "commit", "-m", "x")
    git(place.hostile, "add", "sub")
    git(place.hostile, "commit", "-m", "sub")
    script = place.script(place.hostile / "filter.sh")
    _append(inside / ".git" / "config", f'[filter "x"]\n\tclean = {script}\n')
    (inside / ".git" / "info").mkdir(exist_ok=True)
    (inside / ".git" / "info" / "attributes").write_text("*.py filter=x\n", encoding="utf-8")
    (inside / "train.py").write_text(CODE.replace("2", "3"), encoding="utf-8")  # of one size: git has to look into it
    os.utime(inside / "train.py", (1, 1))
    return DIFF


def textconv(place: Place) -> tuple[str, ...]:
    config = repository(place)
    script = place.script(place.hostile / "convert.sh")
    _append(config, f'[diff "x"]\n\ttextconv = {script}\n\tcommand = {script}\n[diff]\n\texternal = {script}\n')
    _append(
        config,
        f"[core]\n\tpager = {script}\n\teditor = {script}\n\tsshCommand = {script}\n[gpg]\n\tprogram = {script}\n",
    )
    (place.hostile / ".git" / "info" / "attributes").write_text("*.py diff=x\n", encoding="utf-8")
    return DIFF


def fsmonitor(place: Place) -> tuple[str, ...]:
    config = repository(place)
    _append(config, f"[core]\n\tfsmonitor = {place.script(place.hostile / 'monitor.sh')}\n")
    return STATUS


def hooks(place: Place) -> tuple[str, ...]:
    config = repository(place)
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit"):
        place.script(place.hostile / ".git" / "hooks" / name)
        place.script(place.hostile / "more-hooks" / name)
    _append(config, f"[core]\n\thooksPath = {place.hostile / 'more-hooks'}\n[commit]\n\tgpgSign = true\n")
    return ("git", "-c", "safe.directory=*", "checkout", "-B", "x")


def included(place: Place) -> tuple[str, ...]:
    config = repository(place)
    extra = place.hostile / "extra.config"
    script = place.script(place.hostile / "included.sh")
    extra.write_text(f'[core]\n\tfsmonitor = {script}\n[filter "y"]\n\tclean = {script}\n', encoding="utf-8")
    _append(config, f'[includeIf "gitdir:{place.hostile}/"]\n\tpath = {extra}\n[include]\n\tpath = {extra}\n')
    (place.hostile / ".git" / "info" / "attributes").write_text("*.py filter=y\n", encoding="utf-8")
    return DIFF


def worktree(place: Place) -> tuple[str, ...]:
    """The folder of git lies elsewhere, and its configuration is of that worktree."""
    config = repository(place)
    real = place.root / "hostile" / "real.git"
    (place.hostile / ".git").rename(real)
    (place.hostile / ".git").write_text(f"gitdir: {real}\n", encoding="utf-8")
    script = place.script(place.hostile / "tree.sh")
    _append(real / config.name, "[extensions]\n\tworktreeConfig = true\n")
    (real / "config.worktree").write_text(f'[core]\n\tfsmonitor = {script}\n[filter "z"]\n\tclean = {script}\n')
    (real / "info" / "attributes").write_text("*.py filter=z\n", encoding="utf-8")
    return DIFF


KINDS: dict[str, Callable[[Place], tuple[str, ...]]] = {
    "modules of our names": modules,
    "environments": environments,
    "build files": builds,
    "links to code": links,
    "our folder is a link": studio_folder_is_link,
    "runs folder is a link": runs_folder_is_link,
    ".gitignore is a link": ignore_is_link,
    "git: filter": clean_filter,
    "git: filter of an odd name": odd_filter,
    "git: filter of a submodule": submodule_filter,
    "git: textconv and tools": textconv,
    "git: fsmonitor": fsmonitor,
    "git: hooks": hooks,
    "git: includeIf": included,
    "git: worktree": worktree,
}


def project_case(
    kind: str, words: tuple[str, ...], *, is_owner: bool = False, is_clean: bool = False
) -> Callable[[Place], Trap]:
    """FOLDER in `words` stands for the project, COPY for a path to write to. `is_owner`: the user owns the folder, as
    after unpacking an archive: git refuses those of others. `is_clean`: nothing differs from the last commit."""

    def build(place: Place) -> Trap:
        (place.hostile / "train.py").write_text(CODE, encoding="utf-8")
        naive = KINDS[kind](place)
        if is_clean:
            (place.hostile / "train.py").write_text(CODE, encoding="utf-8")
            naive = ("/bin/sh", "-c", 'echo "# changed" >> train.py; exec "$0" "$@"', *naive)
        if not is_owner:
            place.hand_over()
        paths = {"FOLDER": str(place.hostile), "COPY": str(place.root / "copy")}
        return Trap(
            words=tuple(paths.get(word, word) for word in words), cwd=place.hostile, naive=naive, seconds=90,
            allowed=GIT_WRITES if is_clean else (), program=("true",) if "true" in words else (),
        )  # fmt: skip

    return build
