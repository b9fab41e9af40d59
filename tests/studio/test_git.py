"""Git, asked about folders that somebody else made: right answers, and no program of theirs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from backends.migration.migrate import git_branch, undo
from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from backends.migration.migrate.work import apply_to_branch
from studio import interpreters, schema
from studio.code import state as code_state
from studio.code.record import keep_code_state
from studio.errors import StudioError
from studio.git.calls import open_repository
from studio.texts import t
from tests.migration.plans import files_below, plan_project
from tests.studio.hostile_repositories import NOTES, TRICKS, Lair, Trick, commit, git, honest_repository, version
from tests.studio.repository_layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Git reads no config of the person who runs the tests."""
    (tmp_path / "home").mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return tmp_path / "home"


def patched(patch: bytes) -> list[str]:
    return re.findall(r"^diff --git a/.* b/(.*)$", patch.decode(), re.M)


def callers(folder: Path, run: Path) -> Iterator[str]:
    """Go through all that calls git, and yield what has just been done."""
    (run / "artifacts").mkdir(parents=True)
    keep_code_state(run, folder, interpreters.embedded())
    yield "keep"
    spec = MigrateSpec(migrated=Migrated(path=folder), result=Result(branch="npu"))
    assert not list(schema.problems(spec))
    yield "check"
    apply_to_branch(plan_project(folder, "explicit"), "npu", run)
    yield "branch"
    assert undo.is_written(run)
    yield "written"
    undo.undo_migration(run)
    yield "undo"


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.plant.__name__)
def test_that_nothing_of_a_hostile_repository_is_run(
    trick: Trick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lair = Lair(tmp_path / "lair")
    honest_repository(lair.project)
    lair.write_payload(Path(lair.payload))
    trick.plant(lair)
    assert lair.is_sprung(trick) or version() < trick.since
    folder = lair.root / trick.folder
    head = git(folder, "rev-parse", "HEAD").strip()
    lair.canary.unlink(missing_ok=True)
    with monkeypatch.context() as patch:
        patch.chdir(folder)
        for name, value in trick.environment(lair).items():
            patch.setenv(name, value)
        for caller in callers(folder, tmp_path / "run"):
            assert not lair.canary.exists(), caller
        if trick.changed != trick.patched:
            assert code_state.read_state(folder).changed == trick.changed
    assert not lair.canary.exists()
    code = json.loads((tmp_path / "run" / "code.json").read_text())
    assert (code["commit"], code["dirty"]) == (head, True)
    patch_text = (tmp_path / "run" / "code.patch").read_bytes()
    assert patched(patch_text) == list(trick.patched)
    assert b"-before\n+after\n" in patch_text


def commit_branch(folder: Path, run: Path) -> None:
    (run / "artifacts").mkdir(parents=True)
    apply_to_branch(plan_project(folder, "explicit"), "npu", run)


@pytest.mark.parametrize("make", LAYOUTS, ids=lambda make: make.__name__)
def test_that_a_repository_of_any_shape_is_answered_for_as_git_does(
    make: Callable[[Path], Path], tmp_path: Path
) -> None:
    honest_repository(tmp_path / "lair" / "project")
    try:
        folder = make(tmp_path / "lair" / "project")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this git does not know it: {error.stderr.splitlines()[0]}")
    before = files_below(tmp_path / "lair")
    state = code_state.read_state(folder)
    assert files_below(tmp_path / "lair") == before
    top = Path(git(folder, "rev-parse", "--show-toplevel").strip())
    plain = ("-c", "diff.noprefix=false", "-c", "color.ui=never", "diff", "--no-renames", "--ignore-submodules=dirty")
    names = git(top, *plain, "--name-only", "-z", "HEAD").split("\0")[:-1]
    assert state.commit == git(folder, "rev-parse", "HEAD").strip()
    assert state.changed == tuple(dict.fromkeys(names))  # a conflict is listed twice
    assert os.fsdecode(state.patch) == git(top, *plain, "HEAD")
    status = git(folder, "status", "--porcelain")
    commit_branch(folder, tmp_path / "run")
    assert git(folder, "rev-parse", "npu^") == git(folder, "rev-parse", "HEAD")
    undo.undo_migration(tmp_path / "run")
    assert git(folder, "status", "--porcelain") == status
    git(folder, "fsck", "--no-dangling")


def pointer(content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"


def test_that_a_file_of_git_lfs_is_changed_where_it_is_not_what_its_pointer_says(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    small, big = b"small\n", bytes(code_state.LARGEST + 1)
    contents = {
        "small": small,
        "small but other": b"OTHER\n",
        "big": big,
        "bigger": big + b"1",
        "fetched by nobody": b"",
    }
    for name in contents:
        (folder / name).write_text(pointer(big if name.startswith("big") else small))
    commit(folder)
    for name, content in contents.items():
        (folder / name).write_bytes(content or (folder / name).read_bytes())
    (folder / ".gitattributes").write_text("* filter=lfs diff=lfs merge=lfs -text\n")
    state = code_state.read_state(folder)
    assert state.changed == ("bigger", "small but other")
    assert patched(state.patch) == ["small but other"]


def test_that_neither_side_of_a_patch_is_large(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    for name in ("deleted", "shrunk", "grown"):
        (folder / name).write_text("" if name == "grown" else "x\n" * code_state.LARGEST)
    commit(folder)
    (folder / "deleted").unlink()
    (folder / "shrunk").write_text("x\n")
    (folder / "grown").write_text("x\n" * code_state.LARGEST)
    (folder / NOTES).write_text("at last\n")
    state = code_state.read_state(folder)
    assert state.changed == ("deleted", "grown", NOTES, "shrunk")
    assert patched(state.patch) == [NOTES]


def test_that_the_smallest_changes_are_kept_where_all_together_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_state, "LARGEST_PATCH", 1000)
    folder = honest_repository(tmp_path / "project")
    sizes = {"a large": 900, "b small": 100, "c middle": 300}
    for name in sizes:
        (folder / name).write_text("x")
    commit(folder)
    for name, size in sizes.items():
        (folder / name).write_text("y" * size)
    state = code_state.read_state(folder)
    assert state.changed == ("a large", "b small", "c middle")
    assert patched(state.patch) == ["b small", "c middle"]


@pytest.mark.parametrize(
    ("path", "is_private"),
    [
        ("tokenizer.json", False), ("src/Tokenization.txt", False), ("data/tokenised.bin", False),
        ("token_embedding.py", False), ("my_token.py", False), ("token", True), ("hf_token.txt", True),
        ("tokens.json", True), (".env.local", True), ("a/deploy.pem", True), ("password_reset.py", True),
        ("model.py", False),
    ],
)  # fmt: skip
def test_that_a_tokenizer_is_no_secret_and_a_token_is(path: str, *, is_private: bool) -> None:
    assert code_state.is_private(path) == is_private


def test_that_a_moved_file_is_gone_from_its_place_in_the_patch_too(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    git(folder, "mv", "train.py", "main.py")
    assert patched(code_state.read_state(folder).patch) == ["main.py", NOTES, "train.py"]


def test_that_a_folder_in_the_place_of_a_file_brings_no_secret_into_the_patch(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    (folder / NOTES).unlink()
    (folder / NOTES).mkdir()
    (folder / NOTES / ".env").write_text("KEY=1\n")
    git(folder, "add", "-A")
    state = code_state.read_state(folder)
    assert state.changed == (NOTES, f"{NOTES}/.env")
    assert b"KEY" not in state.patch


def test_that_more_paths_are_patched_than_a_command_line_holds(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    long = Path("a" * 200, "b" * 200)
    (folder / long).mkdir(parents=True)
    names = [str(long / f"{number:0250}") for number in range(401)]
    for name in names:
        (folder / name).write_text("before\n")
    commit(folder)
    for name in names:
        (folder / name).write_text("after\n")
    assert patched(code_state.read_state(folder).patch) == names


def test_that_an_index_that_names_files_outside_brings_none_of_them_into_the_patch(tmp_path: Path) -> None:
    """Git itself writes no such index, and reads it."""
    folder = honest_repository(tmp_path / "project")
    (tmp_path / "outside.txt").write_text("of somebody else\n")
    (folder / "xx").mkdir()
    (folder / "xx" / "outside.txt").write_text("before\n")
    commit(folder)
    (folder / NOTES).write_text("at last\n")
    index = folder / ".git" / "index"
    data = index.read_bytes().replace(b"xx/outside.txt", b"../outside.txt")[:-20]
    index.write_bytes(data + hashlib.sha1(data).digest())
    state = code_state.read_state(folder)
    assert b"somebody" not in state.patch
    assert "../outside.txt" not in (state.changed or ())


def test_that_the_work_tree_is_where_the_git_folder_is_whatever_the_config_says(tmp_path: Path) -> None:
    folder, victim = honest_repository(tmp_path / "project"), tmp_path / "victim"
    victim.mkdir()
    (victim / NOTES).write_text("of somebody else\n")
    git(folder, "config", "core.worktree", str(victim))
    state = code_state.read_state(folder)
    assert state.changed == (NOTES,)
    assert b"+after" in state.patch


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replace_by_link(path: Path, target: str) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(target)


def replace_by_file(path: Path, text: str) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.write_text(text)


def add_to_config(git_dir: Path, text: str) -> None:
    with (git_dir / "config").open("a") as file:
        file.write(text)


BROKEN: dict[str, Callable[[Path], object]] = {
    "a pipe as HEAD": lambda git_dir: replace_by_pipe(git_dir / "HEAD"),
    "a pipe as config": lambda git_dir: replace_by_pipe(git_dir / "config"),
    "a pipe as index": lambda git_dir: replace_by_pipe(git_dir / "index"),
    "a device as HEAD": lambda git_dir: replace_by_link(git_dir / "HEAD", "/dev/zero"),
    "a damaged config": lambda git_dir: replace_by_file(git_dir / "config", "[core\n"),
    "a damaged HEAD": lambda git_dir: replace_by_file(git_dir / "HEAD", "nothing\n"),
    "a format of the future": lambda git_dir: add_to_config(git_dir, "[core]\nrepositoryFormatVersion = 99\n"),
    "hashes of the future": lambda git_dir: add_to_config(
        git_dir, "[core]\nrepositoryFormatVersion = 1\n[extensions]\nobjectFormat = sha3\n"
    ),
    "a branch without commits": lambda git_dir: replace_by_file(git_dir / "HEAD", "ref: refs/heads/new\n"),
    "no objects": lambda git_dir: shutil.rmtree(git_dir / "objects"),
    "a file that leads nowhere": lambda git_dir: replace_by_file(git_dir, "gitdir: /nowhere\n"),
    "a circle": lambda git_dir: replace_by_link(git_dir, ".git"),
}


@pytest.mark.parametrize("damage", BROKEN)
def test_that_a_repository_that_cannot_be_read_ends_in_a_sentence(damage: str, tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    BROKEN[damage](folder / ".git")
    assert code_state.read_state(folder) == code_state.CodeState()
    spec = MigrateSpec(migrated=Migrated(path=folder), result=Result(branch="npu"))
    (problem,) = schema.problems(spec)
    assert problem.field == "branch"
    assert t(problem.rule, **problem.args)


def test_that_the_commit_is_kept_where_the_index_cannot_be_read(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    (folder / ".git" / "index").write_bytes(b"damaged")
    state = code_state.read_state(folder)
    assert (len(state.commit), state.changed, state.patch) == (40, None, b"")


def test_that_git_does_not_wait_for_ever(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    os.mkfifo(folder / ".gitattributes")
    with open_repository(folder, seconds=0.5) as repository, pytest.raises(StudioError) as error:
        repository.run("diff", "HEAD")
    assert error.value.key == "error.git"


def test_that_without_git_nothing_is_known_and_a_branch_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = honest_repository(tmp_path / "project")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_state.read_state(folder) == code_state.CodeState()
    spec = MigrateSpec(migrated=Migrated(path=folder), result=Result(branch="npu"))
    assert [problem.rule for problem in schema.problems(spec)] == ["error.no_git"]


def test_that_no_library_of_the_project_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty entry at the end of LD_LIBRARY_PATH, which scripts such as set_env.sh leave, is the current folder."""
    folder = honest_repository(tmp_path / "project")
    (folder / "libc.so.6").write_text("not a library")
    with monkeypatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("LD_LIBRARY_PATH", "/nowhere:")
        if not subprocess.run(["git", "version"], capture_output=True, check=False).returncode:
            pytest.skip("this git is linked statically")
        assert code_state.read_state(folder).changed == (NOTES,)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_that_a_repository_of_another_user_counts_in_its_own_folder_only(tmp_path: Path) -> None:
    shared = honest_repository(tmp_path / "shared")
    (shared / "mine").mkdir()
    for path in (shared, *shared.rglob("*")):
        os.chown(path, 4321, 4321)
    assert code_state.read_state(shared / "mine").changed == (NOTES,)
    os.chown(shared / "mine", 0, 0)
    assert code_state.read_state(shared / "mine") == code_state.CodeState()
    assert code_state.read_state(shared).changed == (NOTES,)


PLACES = ("objects", "refs", "refs/heads", "logs", "logs/refs/heads", "packed-refs")


@pytest.mark.parametrize("place", PLACES)
def test_that_a_branch_is_not_written_through_a_link(place: str, tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    git(folder, "pack-refs", "--all")
    link = folder / ".git" / place
    link.rename(tmp_path / "outside")
    link.symlink_to(tmp_path / "outside")
    before = files_below(tmp_path)
    assert code_state.read_state(folder).changed == (NOTES,)
    with pytest.raises(StudioError) as error:
        commit_branch(folder, tmp_path / "run")
    assert error.value.key == "error.git_link"
    after = files_below(tmp_path)
    assert {name: data for name, data in after.items() if name.startswith("outside")} == {
        name: data for name, data in before.items() if name.startswith("outside")
    }


def author(folder: Path, run: Path) -> str:
    commit_branch(folder, run)
    return git(folder, "log", "-1", "--format=%an <%ae> %cn", "npu").strip()


def test_that_the_commit_has_the_author_whom_the_user_configured_for_the_folder(tmp_path: Path, home: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    (home / ".gitconfig").write_text(
        f'[user]\n\tname = Home\n\temail = h@h\n[includeIf "gitdir:{tmp_path}/"]\n\tpath = work\n'
    )
    (home / "work").write_text('[user]\n\tname = "At \\"Work\\" \\\\ 工作"\n')
    assert author(folder, tmp_path / "run") == 'At "Work" \\ 工作 <h@h> At "Work" \\ 工作'


def test_that_the_commit_has_the_author_of_the_repository_or_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = honest_repository(tmp_path / "project")
    git(folder, "config", "user.name", "Repository")
    git(folder, "config", "user.email", "r@r")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Environment")
    assert author(folder, tmp_path / "run") == "Environment <r@r> Repository"


def test_that_the_commit_has_a_neutral_author_where_git_knows_none(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    git(folder, "config", "user.useConfigOnly", "true")
    assert author(folder, tmp_path / "run") == "Ascend Training Studio <studio@localhost> Ascend Training Studio"


def test_that_a_branch_that_another_work_tree_has_is_not_deleted(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    commit_branch(folder, tmp_path / "run")
    git(folder, "worktree", "add", "-q", "../lin\nked", "npu")
    with pytest.raises(StudioError) as error:
        undo.undo_migration(tmp_path / "run")
    assert error.value.key == "migration.migrate.checked_out"
    assert git(folder, "branch", "--list", "npu")


def test_that_a_branch_below_another_is_told_from_it(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    git(folder, "branch", "npu/x")
    assert git_branch.last_commit(folder, "npu") == ""
    assert git_branch.last_commit(folder, "npu/x") == git(folder, "rev-parse", "main").strip()


NAMES = ("-x", "HEAD", "a..b", "a b", "@{-1}", "a\0b", "a.lock", "/a")


@pytest.mark.parametrize("name", NAMES)
def test_that_a_name_that_git_does_not_take_is_refused_before_anything_runs(name: str, tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    spec = MigrateSpec(migrated=Migrated(path=folder), result=Result(branch=name))
    assert [problem.field for problem in schema.problems(spec)] == ["branch"]


def test_that_the_branch_has_its_entry_in_the_reflog_and_leaves_none(tmp_path: Path) -> None:
    folder = honest_repository(tmp_path / "project")
    commit_branch(folder, tmp_path / "run")
    assert len(git(folder, "reflog", "npu").splitlines()) == 1
    undo.undo_migration(tmp_path / "run")
    assert not (folder / ".git" / "logs" / "refs" / "heads" / "npu").exists()
