"""Resuming scripts of the user's own: killed in the middle for real, and resumed by the command that is offered."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.own.resume import sentences as resume_sentences
from backends.launch.own.resume.checkpoint import content_in
from backends.launch.own.resume.offer import Offer, resume_offer
from backends.launch.own.resume.torch_content import HalfWritten, content_of
from backends.launch.own.spec import OwnSpec
from studio import run as runs
from studio import schema, worker
from studio.errors import StudioError
from studio.events import Ended, Journal
from tests.command_line import last_json, studio
from tests.launch import own_trainings
from tests.runs import ended, worker_log, write_worker

if TYPE_CHECKING:
    from studio.run import Run

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")


def needs(*modules: str) -> pytest.MarkDecorator:
    missing = [name for name in ("torch", *modules) if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)} here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def prepare(folder: Path, *line: str) -> Run:
    """A run of a line in a folder, with the Python of the tests."""
    spec = schema.with_value(OwnSpec(), "line", line)
    spec = schema.with_value(schema.with_value(spec, "workdir", folder), "python", Path(sys.executable))
    kept = folder.parent / "runs"
    kept.mkdir(exist_ok=True)
    return runs.create(kept, "script", schema.to_json(spec))


def train(folder: Path, *line: str) -> Run:
    """Run a line to its end."""
    run = prepare(folder, *line)
    worker.start(run)
    ended(run)
    return run


def over(folder: Path, *line: str) -> Run:
    """A run that has ended, of which nothing ran."""
    run = prepare(folder, *line)
    Journal(run.folder, 1).write(Ended(code=0))
    return run


def killed(folder: Path, script: str, at: int, *line: str) -> Run:
    """Run a script until it is killed after a step."""
    (folder / "train.py").write_text(script)
    (folder / "die").write_text(str(at))
    run = train(folder, *line)
    assert runs.glance(run).code == 137, run.log.read_text() + worker_log(run)
    (folder / "die").unlink()
    return run


def offered(run: Run) -> Offer:
    return resume_offer(run, runs.glance(run))


def losses(run: Run) -> dict[int, float]:
    lines = [line.partition(" ")[2] for line in run.log.read_text().splitlines() if line.startswith("LOSS ")]
    return dict(map(json.loads, lines))


def resumed(run: Run, folder: Path) -> Run:
    """Start what the command line offers for a run, as its JSON has it."""
    done = studio("resume", str(run.folder), "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    again = train(folder, *last_json(done)["line"])
    assert runs.glance(again).code == 0, again.log.read_text()
    return again


@needs_torch
def test_that_a_killed_training_goes_on_from_its_newest_whole_checkpoint(folder: Path) -> None:
    run = killed(folder, own_trainings.TORCH, 4, "python", "train.py")
    offer = offered(run)
    assert offer.checkpoint is not None
    assert offer.checkpoint.path == folder / "out" / "step_4.pt"
    assert (offer.checkpoint.kind, offer.checkpoint.step) == ("torch", 4)
    assert offer.spec.program.line == ("python", "train.py", "--resume", str(folder / "out" / "step_4.pt"))
    assert offer.missing == ("generators", "data_order")
    assert [(passed.path.name, passed.reason) for passed in offer.passed_over] == [("step_5.pt", "half_written")]
    again = resumed(run, folder)
    whole = train(folder, "python", "train.py", "--out", "other")
    assert sorted(losses(again)) == [4, 5, 6, 7]
    assert {**losses(run), **losses(again)} == losses(whole)


@needs_torch
def test_that_the_command_line_prints_the_command_and_what_it_does_not_bring_back(folder: Path) -> None:
    run = killed(folder, own_trainings.TORCH, 2, "python", "train.py")
    done = studio("resume", str(run.folder), cwd=folder)
    assert done.returncode == 0
    assert f"--resume {folder}/out/step_2.pt" in done.stderr.replace("\\\n", " ").replace("  ", " ")
    assert "random generators, data order" in done.stderr
    assert "Passed over, half-written: out/step_3.pt" in done.stderr
    chinese = studio("resume", str(run.folder), cwd=folder, language="zh")
    assert "没有写完" in chinese.stderr
    answer = last_json(studio("resume", str(run.folder), "--json", cwd=folder))
    assert answer["not_restored"] == ["generators", "data_order"]
    assert answer["passed_over"] == [{"path": str(folder / "out/step_3.pt"), "reason": "half_written"}]


@needs("transformers", "accelerate")
def test_that_a_trainer_of_hugging_face_goes_on_as_if_it_had_never_ended(folder: Path) -> None:
    line = own_trainings.TRAINER_LINE
    run = killed(folder, own_trainings.TRAINER, 7, *line)
    offer = offered(run)
    assert offer.checkpoint is not None
    assert offer.checkpoint.path == folder / "out" / "checkpoint-6"
    assert (offer.checkpoint.kind, offer.checkpoint.step) == ("trainer", 6)
    assert offer.missing == ()
    assert [passed.path for passed in offer.passed_over] == [folder / "out/checkpoint-7/model.safetensors"]
    again = resumed(run, folder)
    whole = train(folder, *(word if word != "out" else "whole" for word in line))
    assert sorted(losses(again)) == [7, 8, 9, 10]
    assert losses(again).items() <= losses(whole).items()
    assert again.log.read_text().splitlines()[-1] == whole.log.read_text().splitlines()[-1]


@needs("pytorch_lightning")
def test_that_lightning_goes_on_with_its_own_file(folder: Path) -> None:
    run = killed(folder, own_trainings.LIGHTNING, 9, "python", "train.py")
    offer = offered(run)
    assert offer.checkpoint is not None
    assert (offer.checkpoint.kind, offer.checkpoint.step) == ("lightning", 8)
    assert offer.missing == ("generators", "data_order")
    again = resumed(run, folder)
    assert sorted(losses(again)) == [8, 9, 10, 11]


@needs("accelerate")
def test_that_a_folder_of_accelerate_is_gone_on_with_bit_by_bit(folder: Path) -> None:
    run = killed(folder, own_trainings.ACCELERATE, 5, "python", "train.py", "--output_dir", "saved")
    offer = offered(run)
    assert offer.checkpoint is not None
    assert offer.checkpoint.path == folder / "saved" / "step_4"
    assert (offer.checkpoint.kind, offer.checkpoint.step) == ("accelerate", 4)
    assert "generators" not in offer.missing
    again = resumed(run, folder)
    whole = train(folder, "python", "train.py", "--output_dir", "other")
    assert sorted(losses(again)) == [4, 5, 6, 7]
    assert losses(again).items() <= losses(whole).items()


@needs_torch
def test_that_checkpoints_are_found_without_hooks_too(folder: Path) -> None:
    run = killed(folder, own_trainings.TORCH, 3, "python", "train.py")
    for note in run.folder.glob("saves.a*"):
        note.unlink()
    offer = offered(run)
    assert offer.checkpoint is not None
    assert offer.checkpoint.path.name == "step_3.pt"
    assert [passed.path.name for passed in offer.passed_over] == ["step_4.pt"]


@needs_torch
def test_that_another_run_beside_it_is_not_taken_for_its_own(folder: Path) -> None:
    """Two runs of a sweep write below one folder at one time; the hooks say which of them wrote what."""
    (folder / "train.py").write_text(own_trainings.TORCH)
    first, second = (prepare(folder, "python", "train.py", "--out", out) for out in ("a", "b"))
    worker.start(first)
    worker.start(second)
    ended(first)
    ended(second)
    for run, name in ((first, "a"), (second, "b")):
        checkpoint = offered(run).checkpoint
        assert checkpoint is not None
        assert checkpoint.path == folder / name / "step_8.pt"


@needs_torch
def test_that_a_checkpoint_that_a_later_run_wrote_again_is_told(folder: Path) -> None:
    script = own_trainings.TORCH.replace('f"{args.out}/step_{step + 1}.pt"', '"last.pt"').replace("cut(", "str(")
    (folder / "train.py").write_text(script)
    run = train(folder, "python", "train.py")
    assert offered(run).checkpoint is not None
    later = time.time() + 60
    os.utime(folder / "last.pt", (later, later))
    offer = offered(run)
    assert offer.checkpoint is None
    assert [(passed.path.name, passed.reason) for passed in offer.passed_over] == [("last.pt", "overwritten")]
    done = studio("resume", str(run.folder), cwd=folder)
    assert done.returncode == 3
    assert "Passed over, written again after this run" in done.stderr


def saved(path: Path, content: Any) -> Path:
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path)
    return path


@needs_torch
def test_that_weights_alone_are_offered_only_where_there_is_nothing_better(folder: Path) -> None:
    import torch

    (folder / "train.py").write_text("parser.add_argument('--resume')")
    run = over(folder, "python", "train.py")
    saved(folder / "state.pt", {"net": {"w": torch.ones(2)}, "opt": {"param_groups": [], "state": {}}, "epoch": 3})
    final = saved(folder / "final.pth", {"w": torch.ones(2)})
    os.utime(final, ns=(time.time_ns(), time.time_ns() + 10**9))
    offer = offered(run)
    assert offer.checkpoint is not None
    assert (offer.checkpoint.path.name, offer.checkpoint.epoch) == ("state.pt", 3)
    assert [(passed.path.name, passed.reason) for passed in offer.passed_over] == [("final.pth", "weights_alone")]
    (folder / "state.pt").unlink()
    offer = offered(run)
    assert offer.checkpoint is not None
    assert offer.checkpoint.path == final
    assert offer.missing == ("optimizer", "schedule", "step", "generators", "data_order")
    assert not offer.passed_over


@needs_torch
def test_that_files_of_torch_that_are_no_checkpoint_are_none(folder: Path) -> None:
    import torch

    (folder / "train.py").write_text("parser.add_argument('--resume')")
    run = over(folder, "python", "train.py")
    saved(folder / "data.pt", [torch.ones(2), torch.ones(2)])
    saved(folder / "vocabulary.pt", {"a": 1, "b": 2})
    saved(folder / "sample.pt", torch.ones(2))
    (folder / "rows.bin").write_bytes(b"\1\2\3\4")
    assert offered(run).is_empty


@needs_torch
@pytest.mark.parametrize("content", ["old", "empty", "cut"])
def test_that_a_file_whose_end_nobody_saw_is_passed_over(folder: Path, content: str) -> None:
    import torch

    (folder / "train.py").write_text("parser.add_argument('--resume')")
    run = over(folder, "python", "train.py")
    path = folder / "state.pt"
    torch.save({"w": torch.ones(9)}, path, _use_new_zipfile_serialization=content != "old")
    if content != "old":
        path.write_bytes(path.read_bytes()[:-30] if content == "cut" else b"")
    (passed,) = offered(run).passed_over
    assert passed.reason == ("form_unknown" if content == "old" else "half_written")


@needs_torch
def test_that_a_file_in_the_old_form_counts_where_the_hooks_saw_its_end(folder: Path) -> None:
    script = own_trainings.TORCH.replace('step_{step + 1}.pt")\n', 'step_{step + 1}.pt", '
                                         "_use_new_zipfile_serialization=False)\n")  # fmt: skip
    (folder / "train.py").write_text(script)
    offer = offered(train(folder, "python", "train.py"))
    assert offer.checkpoint is not None
    assert (offer.checkpoint.path.name, offer.checkpoint.parts) == ("step_8.pt", None)
    assert "not known" in " ".join(resume_sentences.offer_sentences(offer))


class Runs:
    def __reduce__(self) -> Any:
        return os.system, ("touch ran",)


@needs_torch
def test_that_nothing_in_a_checkpoint_is_executed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.chdir(folder)
    content = content_of(saved(folder / "state.pt", {"model": {"w": torch.ones(2)}, "step": 4, "code": Runs()}))
    assert content["code"].name == "posix.system"
    judged = content_in(content)
    assert judged is not None
    assert (judged.step, judged.parts) == (4, {"weights", "step"})
    assert not (folder / "ran").exists()


def test_that_damaged_containers_raise_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "state.pt"
    for description in (
        b"",
        b".",
        b"N",
        b"\x80\x02}q\0(X\xff\xff\xff\xff",
        b"]\x94h\x00a.",
        b"(((((e.",
        b"\x8b\xff\xff\xff\xff",
    ):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as container:
            container.writestr("state/data.pkl", description)
        assert content_in(content_of(path)) is None
    path.write_bytes(b"PK\3\4" + b"\0" * 200)
    with pytest.raises(HalfWritten):
        content_of(path)


def test_that_a_run_that_works_and_a_run_of_something_else_are_refused(folder: Path) -> None:
    (folder / "train.py").write_text("")
    run = prepare(folder, "python", "train.py")
    write_worker(run.folder)
    with pytest.raises(StudioError, match="still works"):
        offered(run)
    recipe = runs.create(folder.parent / "runs", "launch", {})
    Journal(recipe.folder, 1).write(Ended(code=0))
    with pytest.raises(StudioError, match="--resume RUN"):
        offered(recipe)
    assert studio("resume", str(recipe.folder), cwd=folder).returncode == 2


@needs_torch
@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("train.py", ("python", "train.py"), "No option of train.py"),
        ("run.sh", ("bash", "run.sh"), "names no Python file"),
    ],
)
def test_that_a_checkpoint_without_an_option_for_it_is_named_all_the_same(
    folder: Path, name: str, line: tuple[str, ...], words: str
) -> None:
    import torch

    (folder / name).write_text("")
    run = over(folder, *line)
    path = saved(folder / "state.pt", {"model": {"w": torch.ones(2)}, "step": 1})
    done = studio("resume", str(run.folder), "--json", cwd=folder)
    assert done.returncode == 3
    assert words in done.stderr
    answer = last_json(done)
    assert (answer["line"], answer["checkpoint"]) == (None, str(path))


def test_that_a_run_without_a_checkpoint_says_where_it_looked(folder: Path) -> None:
    (folder / "train.py").write_text("parser.add_argument('--resume')")
    run = over(folder, "python", "train.py")
    done = studio("resume", str(run.folder), cwd=folder)
    assert done.returncode == 3
    assert str(folder) in done.stderr
    assert offered(run).is_empty


@needs_torch
def test_that_a_script_that_looks_for_its_checkpoint_itself_may_meet_a_cut_one(folder: Path) -> None:
    import torch

    (folder / "train.py").write_text("parser.add_argument('--resume', action='store_true')")
    run = over(folder, "python", "train.py", "--lr", "1")
    whole = saved(folder / "a.pt", {"model": {"w": torch.ones(2)}, "step": 1})
    (folder / "b.pt").write_bytes(whole.read_bytes()[:-50])
    offer = offered(run)
    assert offer.spec.program.line == ("python", "train.py", "--lr", "1", "--resume")
    text = " ".join(resume_sentences.offer_sentences(offer))
    assert "looks for its checkpoint itself" in text
    assert "move that away first" in text


@needs_torch
@pytest.mark.parametrize("words", [(), ("--ignore_data_skip",), ("--ignore_data_skip", "--seed", "1")])
def test_that_a_trainer_that_does_not_seek_its_place_in_the_data_has_lost_it(
    folder: Path, words: tuple[str, ...]
) -> None:  # fmt: skip
    import torch

    (folder / "train.py").write_text("")
    run = over(folder, "python", "train.py", *words)
    place = folder / "out" / "checkpoint-3"
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth", "pytorch_model.bin"):
        saved(place / name, {"w": torch.ones(2)})
    (place / "trainer_state.json").write_text(json.dumps({"global_step": 3}))
    assert offered(run).missing == (("data_order",) if words else ())
    (place / "trainer_state.json").write_text('{"global_step": 3')
    assert [passed.reason for passed in offered(run).passed_over] == ["half_written"]


def test_that_a_folder_of_torch_distributed_counts_with_its_last_file(folder: Path) -> None:
    (folder / "train.py").write_text("parser.add_argument('--resume')")
    run = over(folder, "python", "train.py")
    for step in (10, 20):
        place = folder / "ckpt" / f"step_{step}"
        place.mkdir(parents=True)
        (place / "__0_0.distcp").write_bytes(b"rows")
        if step == 10:
            (place / ".metadata").write_bytes(b"table")
    offer = offered(run)
    assert offer.checkpoint is not None
    assert (offer.checkpoint.kind, offer.checkpoint.step) == ("distributed", 10)
    assert [passed.path.name for passed in offer.passed_over] == ["step_20"]
    assert "cannot be read without running code" in " ".join(resume_sentences.offer_sentences(offer))
