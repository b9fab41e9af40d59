"""Results of a migration as a copy or a branch, and how each is undone."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from backends.migration.migrate import undo
from backends.migration.migrate.changes import Changes, Decisions, Style
from backends.migration.migrate.decisions import accepted_hunks
from backends.migration.migrate.project_copy import unfinished_copy
from backends.migration.migrate.replaced_files import edited_files
from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from backends.migration.migrate.work import apply_to_branch, apply_to_copy, migrate_answer
from studio import schema
from studio.errors import StudioError
from tests.migration.plans import (
    files_below,
    git,
    of,
    plan_project,
    project,
)

TRAIN = "import torch\r\nx = f().cuda()  # 注释\r\ntorch.cuda.synchronize()"


def small(folder: Path) -> Path:
    return project(
        folder,
        train__py=TRAIN.encode("gb18030"),
        lib___net__py="\ufeffimport torch\nd = 'cuda'\n",
        run__sh="#!/bin/sh\npython train.py --device cuda\n",
        data__bin=bytes(range(256)),
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run" / "artifacts").mkdir(parents=True)
    return tmp_path / "run"


def repository(folder: Path) -> Path:
    small(folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return folder


def test_that_the_original_stays_and_the_copy_has_the_changes(tmp_path: Path, run: Path) -> None:
    before = files_below(small(tmp_path / "project"))
    changes = apply_to_copy(plan_project(tmp_path / "project", "explicit"), tmp_path / "copy", run)
    assert files_below(tmp_path / "project") == before
    copy = files_below(tmp_path / "copy")
    assert {name for name in before if copy[name] != before[name]} == {"train.py", "lib/net.py", "run.sh"}
    assert copy["train.py"].decode("gb18030").endswith("  # 注释\r\naccelerator.synchronize()")
    assert copy["lib/net.py"].startswith(b"\xef\xbb\xbfimport torch\ntry:\n")
    assert set(changes.applied) == {hunk.id for hunk in accepted_hunks(changes)}


def test_that_undo_restores_every_byte(tmp_path: Path, run: Path) -> None:
    before = files_below(small(tmp_path / "project"))
    apply_to_copy(plan_project(tmp_path / "project", "minimal"), tmp_path / "copy", run)
    undo.undo_migration(run)
    assert files_below(tmp_path / "copy") == before
    undo.undo_migration(run)
    assert files_below(tmp_path / "copy") == before


def test_that_undo_goes_on_after_a_kill_in_the_middle(tmp_path: Path, run: Path) -> None:
    before = files_below(small(tmp_path / "project"))
    apply_to_copy(plan_project(tmp_path / "project", "explicit"), tmp_path / "copy", run)
    (tmp_path / "copy" / "run.sh").write_bytes(before["run.sh"])
    undo.undo_migration(run)
    assert files_below(tmp_path / "copy") == before


def test_that_undo_touches_nothing_where_somebody_went_on_working(tmp_path: Path, run: Path) -> None:
    small(tmp_path / "project")
    apply_to_copy(plan_project(tmp_path / "project", "explicit"), tmp_path / "copy", run)
    (tmp_path / "copy" / "run.sh").write_text("mine")
    worked = files_below(tmp_path / "copy")
    with pytest.raises(StudioError) as error:
        undo.undo_migration(run)
    assert error.value.values == {"path": "run.sh"}
    assert files_below(tmp_path / "copy") == worked


def test_that_what_a_kill_left_is_gone_after_the_next_try(tmp_path: Path, run: Path) -> None:
    small(tmp_path / "project")
    project(unfinished_copy(tmp_path / "copy"), half="x")
    apply_to_copy(plan_project(tmp_path / "project", "explicit"), tmp_path / "copy", run)
    assert not unfinished_copy(tmp_path / "copy").exists()
    assert "half" not in files_below(tmp_path / "copy")


def test_that_a_file_that_changed_since_the_plan_stops_it_all(tmp_path: Path, run: Path) -> None:
    plan = plan_project(small(tmp_path / "project"), "explicit")
    (tmp_path / "project" / "run.sh").write_text("python train.py --device cuda --more\n")
    with pytest.raises(StudioError):
        apply_to_copy(plan, tmp_path / "copy", run)
    assert not (tmp_path / "copy").exists()


def test_that_a_copy_keeps_links_and_modes_and_leaves_environments_behind(tmp_path: Path, run: Path) -> None:
    folder = small(tmp_path / "project")
    (folder / "link").symlink_to("train.py")
    (folder / "loop").symlink_to("..")
    (folder / "run.sh").chmod(0o755)
    project(folder / "env", pyvenv__cfg="home = /usr", lib="x")
    os.mkfifo(folder / "pipe")
    apply_to_copy(plan_project(folder, "explicit"), tmp_path / "copy", run)
    copy = tmp_path / "copy"
    assert (copy / "link").readlink() == Path("train.py")
    assert (copy / "loop").readlink() == Path("..")
    assert (copy / "run.sh").stat().st_mode & 0o777 == 0o755
    assert not (copy / "env").exists()
    assert not (copy / "pipe").exists()


def test_that_a_branch_has_the_changes_and_the_work_tree_does_not(tmp_path: Path, run: Path) -> None:
    folder = repository(tmp_path / "project")
    (folder / "data.bin").write_bytes(b"dirty")
    (folder / "new.txt").write_text("untracked")
    git(folder, "add", "data.bin")
    before, status = files_below(folder), git(folder, "status", "--porcelain")
    changes = apply_to_branch(plan_project(folder, "explicit"), "npu", run)
    after = files_below(folder)
    assert {name: data for name, data in after.items() if not name.startswith(".git/")} == {
        name: data for name, data in before.items() if not name.startswith(".git/")
    }
    assert git(folder, "status", "--porcelain") == status
    assert git(folder, "diff", "--name-only", "main", "npu").split() == ["lib/net.py", "run.sh", "train.py"]
    assert git(folder, "show", "npu:run.sh") == "#!/bin/sh\npython train.py --device ${DEVICE_TYPE:-npu}\n"
    assert changes.branch == "npu"
    undo.undo_migration(run)
    assert git(folder, "branch", "--list", "npu") == ""


def test_that_a_branch_of_a_folder_inside_a_repository_changes_only_that(tmp_path: Path, run: Path) -> None:
    folder = repository(tmp_path / "project")
    apply_to_branch(plan_project(folder / "lib", "explicit"), "npu", run)
    assert git(folder, "diff", "--name-only", "main", "npu").split() == ["lib/net.py"]


def test_that_uncommitted_work_in_a_file_that_would_change_is_not_committed(tmp_path: Path, run: Path) -> None:
    folder = repository(tmp_path / "project")
    (folder / "run.sh").write_text("#!/bin/sh\npython train.py --device cuda --mine\n")
    with pytest.raises(StudioError) as error:
        apply_to_branch(plan_project(folder, "explicit"), "npu", run)
    assert error.value.key == "migration.migrate.uncommitted"
    assert git(folder, "branch", "--list", "npu") == ""


def test_that_a_branch_that_went_on_is_not_deleted(tmp_path: Path, run: Path) -> None:
    folder = repository(tmp_path / "project")
    apply_to_branch(plan_project(folder, "explicit"), "npu", run)
    git(folder, "update-ref", "refs/heads/npu", "main")
    with pytest.raises(StudioError):
        undo.undo_migration(run)
    assert git(folder, "branch", "--list", "npu").strip() == "npu"


def test_that_a_rejected_hunk_takes_its_group_with_it(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        train__py='import torch, argparse\np.add_argument("--device", choices=["cuda", "cpu"])\ny = x.cuda()\n',
        run__sh="python train.py --device cuda\n",
    )
    plan = plan_project(folder, "explicit")
    (script,) = [hunk for hunk in plan.hunks() if hunk.path == "run.sh"]
    left = accepted_hunks(plan, Decisions(reject=(script.id,)))
    assert [hunk.before.strip() for hunk in left] == ["import torch, argparse", "y = x.cuda()"]


def test_that_without_what_needs_it_the_prelude_is_not_written(tmp_path: Path) -> None:
    plan = plan_project(project(tmp_path, train__py="import torch\ny = x.cuda()\n"), "explicit")
    (use,) = [hunk for hunk in plan.hunks() if hunk.needs]
    assert accepted_hunks(plan, Decisions(reject=(use.id,))) == ()
    assert accepted_hunks(plan, Decisions(reject=use.needs)) == ()


def test_that_lines_of_a_person_stand_in_place_of_the_edit(tmp_path: Path) -> None:
    plan = plan_project(project(tmp_path, train__py="import torch\ny = x.cuda()\n"), "minimal")
    (lines,) = plan.hunks()
    (done,) = edited_files(plan, tmp_path, Decisions(edited={lines.id: "import torch\nimport mine\n"}))
    assert done.after == b"import torch\nimport mine\ny = x.cuda()\n"


def test_that_lines_that_do_not_parse_are_refused(tmp_path: Path) -> None:
    plan = plan_project(project(tmp_path, train__py="import torch\ny = x.cuda()\n"), "minimal")
    (lines,) = plan.hunks()
    with pytest.raises(StudioError) as error:
        edited_files(plan, tmp_path, Decisions(edited={lines.id: "import torch import\n"}))
    assert error.value.key == "migration.migrate.edit_does_not_parse"


def test_that_the_command_plans_applies_scans_again_and_undoes(tmp_path: Path) -> None:
    folder = small(tmp_path / "project")
    source = Migrated(path=folder, style="explicit")
    plan, code = of(tmp_path, MigrateSpec(migrated=source))
    assert (code, migrate_answer(plan)["target"], migrate_answer(plan)["after"]) == (0, "", {})
    run, code = of(tmp_path, MigrateSpec(migrated=source, result=Result(into=tmp_path / "copy")))
    answer = migrate_answer(run)
    assert code == 0
    assert (answer["before"]["edit"], answer["after"]["edit"], answer["files"]) == (1, 0, 3)
    changes = msgspec.json.decode(Path(answer["changes"]).read_bytes(), type=Changes)
    assert changes.target == str(tmp_path / "copy")
    _, code = of(tmp_path, MigrateSpec(result=Result(undo=run.folder)))
    assert code == 0
    assert files_below(tmp_path / "copy") == files_below(folder)


def test_that_the_command_reads_decisions(tmp_path: Path) -> None:
    folder = small(tmp_path / "project")
    decisions = Decisions(
        reject=tuple(hunk.id for hunk in plan_project(folder, "explicit").hunks() if hunk.path != "lib/net.py")
    )
    (tmp_path / "said.json").write_bytes(msgspec.json.encode(decisions))
    source = Migrated(path=folder, style="explicit", decisions=tmp_path / "said.json")
    of(tmp_path, MigrateSpec(migrated=source, result=Result(into=tmp_path / "copy")))
    before, after = files_below(folder), files_below(tmp_path / "copy")
    assert {name for name in before if before[name] != after[name]} == {"lib/net.py"}


@pytest.mark.parametrize(
    ("result", "rule"),
    [
        (Result(into=Path("project/inside")), "migration.rule.out_inside"),
        (Result(into=Path("project")), "migration.rule.out_inside"),
        (Result(into=Path("full")), "migration.rule.out_exists"),
        (Result(into=Path("copy"), branch="npu"), "migration.rule.copy_or_branch"),
        (Result(branch="npu"), "migration.rule.no_repository"),
        (Result(undo=Path("full")), "migration.rule.no_undo"),
    ],
)
def test_that_a_wrong_target_is_told_before_anything_runs(tmp_path: Path, result: Result, rule: str) -> None:
    small(tmp_path / "project")
    project(tmp_path / "full", x="x")
    paths = {name: tmp_path / path for name in ("into", "undo") if (path := getattr(result, name)) != Path()}
    spec = MigrateSpec(migrated=Migrated(path=tmp_path / "project"), result=Result(branch=result.branch, **paths))
    assert rule in [problem.rule for problem in schema.problems(spec)]


CUDA = "import torch\nx = torch.ones(2).cuda()\n"


def states_after(tmp_path: Path, style: Style, text: str, reject: str, **files: str) -> dict[str, int]:
    """Return the states of the places of a result, with the hunks of a rule rejected."""
    folder = project(tmp_path / "gpu", train__py=text, **files)
    rejected = tuple(hunk.id for hunk in plan_project(folder, style).hunks() if reject in hunk.rules)
    assert bool(rejected) == bool(reject)
    (tmp_path / "no.json").write_bytes(msgspec.json.encode(Decisions(reject=rejected)))
    source = Migrated(path=folder, style=style, decisions=tmp_path / "no.json")
    plan, _ = of(tmp_path, MigrateSpec(migrated=source, result=Result(into=tmp_path / "npu")))
    states: dict[str, int] = migrate_answer(plan)["after"]
    return states


def test_that_a_call_of_cuda_that_nothing_transfers_is_left_to_do(tmp_path: Path) -> None:
    assert states_after(tmp_path, "explicit", CUDA, "cuda_method.call")["edit"] == 1


def test_that_without_the_lines_of_transfer_to_npu_no_call_works_by_itself(tmp_path: Path) -> None:
    states = states_after(tmp_path, "minimal", CUDA, "migrate.prelude")
    assert (states["auto"], states["edit"]) == (0, 1)


def test_that_a_switch_in_a_script_stands_for_the_lines(tmp_path: Path) -> None:
    run = "export TORCH_TRANSFER_TO_NPU=1\nCUDA_VISIBLE_DEVICES=0 python train.py\n"
    states = states_after(tmp_path, "minimal", CUDA, "migrate.prelude", run__sh=run)
    assert states["edit"] == 0


def test_that_a_module_that_a_transferred_script_imports_has_nothing_left(tmp_path: Path) -> None:
    main = "import torch\nimport net\nfor _ in range(2):\n    torch.ones(2).cuda()\n"
    states = states_after(tmp_path, "minimal", main, "", net__py=CUDA)
    assert (states["auto"], states["edit"], states["manual"]) == (2, 0, 0)
