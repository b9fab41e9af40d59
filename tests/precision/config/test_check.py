"""Two trainings that know nothing of the studio, their packs, and what the check says of them."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.config import result, work
from backends.precision.config.spec import ConfigCheckSpec, Packs
from backends.precision.msprobe.installed import Installed
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Note
from studio.paths import GUEST
from studio.run import last_events
from tests.precision.config import packs
from tests.precision.config.packs import MINDSPORE, SECRET, TORCH, lines, train

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.precision.config.result import EnvironmentCheck
    from studio.run import Run

WEIGHTS = json.dumps({"layer.weight": {"max": 1.0, "min": -1.0, "mean": 0.0, "norm": 2.0}})
BUFFERS = json.dumps({"norm.running_var": {"max": 2.0, "min": 2.0, "mean": 2.0, "norm": 8.0}})


@pytest.fixture(scope="session")
def torch_runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """A training with a seed, one with another and deterministic, and what the first printed."""
    folder = tmp_path_factory.mktemp("torch runs 训练")
    printed = train(folder / "a", TORCH, "3")
    train(folder / "b", TORCH, "4", "deterministic")
    return folder / "a", folder / "b", printed


def check(folder: Path, a: Path, b: Path, python: Path | None = None) -> tuple[int, Run]:
    asked = Packs(side_a=a, side_b=b) if python is None else Packs(side_a=a, side_b=b, check_python=python)
    spec = ConfigCheckSpec(packs=asked)
    folder.mkdir(exist_ok=True)
    run = runs.create(folder, "config-check", schema.to_json(spec))
    return work.config_check(spec, run).code, run


def verdicts(found: EnvironmentCheck) -> dict[str, str]:
    return {one.name: one.verdict for one in found.parts}


def members(folder: Path) -> dict[str, str]:
    with zipfile.ZipFile(folder / "artifacts" / "config" / "rank0.zip") as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_that_a_torch_training_leaves_a_pack_without_a_secret_and_notices_nothing(
    torch_runs: tuple[Path, Path, str], tmp_path: Path
) -> None:
    folder, _, printed = torch_runs
    plain = train(tmp_path / "plain", TORCH, "3", hooks="curves")
    assert lines(printed, "loss") == lines(plain, "loss")
    assert lines(printed, "given back")[0].split("0x")[0] == lines(plain, "given back")[0].split("0x")[0]
    assert lines(printed, "given back")[0].endswith("False")
    found = members(folder)
    assert {"env", "pip", "studio.json", "random/rank0.json"} < found.keys()
    batch = json.loads(found["dataset/step0/rank0/dataset.json"])
    assert batch["kwargs"]["scale"].keys() == {"max", "min", "mean", "norm"}
    assert json.loads(found["weights/step0/rank0/weight.json"]).keys() == {"layer.weight", "layer.bias"}
    assert [name for name in found if "step1" in name] == []
    assert not [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert not [name for name, text in found.items() if SECRET in text]
    env = json.loads(found["env"])
    assert (env["USE_FLASH"], env["HCCL_PROXY"]) == ("1", "http://host")
    assert not [name for name in env if name.startswith("ASCEND_STUDIO") or "TOKEN" in name]
    own = json.loads(found["studio.json"])
    assert (own["framework"], own["seeds"]["torch.seed"], own["reason"]) == ("torch", 3, "")
    assert not list((folder / "artifacts" / "config").glob("*.making"))


def test_that_other_seeds_and_switches_are_found_by_us_where_msprobe_passes_them(
    torch_runs: tuple[Path, Path, str], tmp_path: Path
) -> None:
    a, b, _ = torch_runs
    code, run = check(tmp_path / "runs", a, b)
    found = result.read_check(run)
    assert (code, found.verdict, found.equal) == (3, "error", False)
    assert {"seeds": "error", "determinism": "error", "weights": "error", "dataset": "error"}.items() <= verdicts(
        found
    ).items()
    theirs = {one.name: one.msprobe for one in found.parts if one.source == "msprobe"}
    assert theirs == {"weights": "error", "dataset": "error", "random": "pass", "env": "pass"}
    assert verdicts(found)["pip"] == "pass"
    assert found.pip == ()
    keys = [one.key for one in found.todo]
    assert keys[:2] == ["precision.config.set_seed", "precision.config.set_switch"]
    notes = [event.key for event in last_events(run.folder, 1 << 16) if isinstance(event, Note)]
    assert notes[0] == "precision.config.verdict_error"
    assert (run.folder / "artifacts" / "msprobe" / "result.xlsx").is_file()
    answer = work.config_check_answer(run)
    assert (answer["equal"], answer["pip"], answer["parts"]["seeds"]["verdict"]) == (False, [], "error")
    assert answer["parts"]["seeds"]["differences"][0] == ["0", "torch.seed", "3", "4"]
    assert json.loads(json.dumps(answer)) == answer


def test_that_a_side_is_equal_to_itself_and_the_answer_is_yes(
    torch_runs: tuple[Path, Path, str], tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    """Without msprobe: the same parts, by us."""
    code, run = check(tmp_path / "runs", torch_runs[0], torch_runs[0], interpreter("exit 0"))
    found = result.read_check(run)
    assert (code, found.equal, found.msprobe) == (0, True, "")
    assert {"seeds", "determinism", "weights", "dataset", "random", "pip", "versions", "threads"} <= set(
        verdicts(found)
    )
    assert [one.key for one in found.notes] == ["precision.config.msprobe_missing", "precision.config.no_options"]
    code, run = check(tmp_path / "runs", *torch_runs[:2], interpreter("exit 0"))
    assert (code, verdicts(result.read_check(run))["weights"]) == (3, "error")


def test_that_other_packages_end_in_the_commands_that_make_them_equal(tmp_path: Path) -> None:
    a = packs.write(tmp_path / "a" / "rank0.zip", packs.own(), env="{}", pip="torch=2.6.0\nnumpy=1.26.4\nsix=1.16.0\n")
    b = packs.write(tmp_path / "b" / "rank0.zip", packs.own(), env="{}", pip="torch=2.5.1\nnumpy=1.26.4\nrich=13.0\n")
    code, run = check(tmp_path / "runs", a.parent, b)
    found = result.read_check(run)
    assert (code, verdicts(found)["pip"]) == (3, "error")
    assert work.config_check_answer(run)["pip"] == ["pip install six==1.16.0 torch==2.6.0", "pip uninstall -y rich"]
    assert next(one.msprobe for one in found.parts if one.name == "pip") == "error"
    assert "precision.config.do_pip" in [one.key for one in found.todo]


def test_that_an_msprobe_that_fails_is_quoted_and_the_rest_is_said_all_the_same(
    tmp_path: Path, interpreter: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    python = interpreter("echo 'RuntimeError: broken here'; exit 1")
    known = Installed(version="26.2.0", family="26", path=tmp_path, python=python)
    monkeypatch.setattr(work, "version_of", lambda _: known)
    a = packs.write(tmp_path / "a.zip", packs.own(), weights__step0__rank0__weight=WEIGHTS)
    b = packs.write(tmp_path / "b.zip", packs.own(), weights__step0__rank0__weight=WEIGHTS.replace("2.0", "3.0"))
    code, run = check(tmp_path / "runs", a, b, python)
    found = result.read_check(run)
    assert (code, verdicts(found)["weights"], verdicts(found)["seeds"]) == (3, "error", "pass")
    assert [(one.key, one.args) for one in found.notes] == [
        ("precision.msprobe.failed", {"reason": "RuntimeError: broken here"}), ("precision.config.only_equal", {}),
        ("precision.config.no_options", {}),
    ]  # fmt: skip


def test_that_all_ranks_are_compared(tmp_path: Path, interpreter: Callable[[str], Path]) -> None:
    for rank in range(3):
        seeds = {"torch.seed": 3, "torch.state": "aa"}
        packs.write(tmp_path / "a" / f"rank{rank}.zip", packs.own(rank=rank, seeds=seeds))
        seeds = {**seeds, "torch.seed": 3 + rank // 2}
        packs.write(tmp_path / "b" / f"rank{rank}.zip", packs.own(rank=rank, seeds=seeds))
    _, run = check(tmp_path / "runs", tmp_path / "a", tmp_path / "b", interpreter("exit 0"))
    found = result.read_check(run)
    assert found.ranks == (0, 1, 2)
    seeds_found = next(one for one in found.parts if one.name == "seeds")
    assert [row.cells for row in seeds_found.rows if row.level != "pass"] == [("2", "torch.seed", "3", "4")]


ROUNDED = json.dumps({"layer.weight": {"max": 1.5, "min": -1.25, "mean": 1.3e-7, "norm": 2.0}})


@pytest.mark.parametrize("has_msprobe", [True, False])
def test_that_a_mean_that_is_off_by_its_rounding_is_no_other_weight(
    tmp_path: Path, interpreter: Callable[[str], Path], has_msprobe: bool
) -> None:
    other = ROUNDED.replace("1.3e-07", "2.3e-07")
    assert other != ROUNDED
    kinds = main_parts() | {
        "weights__step0__rank0__weight": ROUNDED, "dataset__step0__rank0__dataset": f'{{"args": {ROUNDED}}}'
    }  # fmt: skip
    a = packs.write(tmp_path / "a.zip", packs.own(), **kinds)
    b = packs.write(tmp_path / "b.zip", packs.own(), **{**kinds, "weights__step0__rank0__weight": other})
    code, run = check(tmp_path / "runs", a, b, None if has_msprobe else interpreter("exit 0"))
    found = result.read_check(run)
    assert (code, verdicts(found)["weights"], bool(found.msprobe)) == (0, "pass", has_msprobe)
    assert {one.key: one.args for one in found.notes}["precision.config.rounding"] == {"count": 1}
    changed = other.replace("1.5", "1.5000001")
    packs.write(b, packs.own(), **{**kinds, "weights__step0__rank0__weight": changed})
    assert check(tmp_path / "runs", a, b, None if has_msprobe else interpreter("exit 0"))[0] == 3


def main_parts() -> dict[str, str]:
    """What a pack of rank 0 has besides our own part."""
    data = f'{{"args": {WEIGHTS}}}'
    return {
        "weights__step0__rank0__weight": WEIGHTS, "dataset__step0__rank0__dataset": data, "random__rank0": "{}",
        "pip": "torch=2.6.0\n", "buffers__step0__rank0__buffer": BUFFERS,
    }  # fmt: skip


def test_that_buffers_that_differ_before_the_first_step_are_no_equal_start(tmp_path: Path) -> None:
    a = packs.write(tmp_path / "a.zip", packs.own(), **main_parts())
    b = packs.write(tmp_path / "b.zip", packs.own(), **main_parts())
    code, run = check(tmp_path / "runs", a, b)
    assert (code, verdicts(result.read_check(run))["buffers"]) == (0, "pass")
    packs.write(b, packs.own(), **{**main_parts(), "buffers__step0__rank0__buffer": BUFFERS.replace("2.0", "4.0")})
    code, run = check(tmp_path / "runs", a, b)
    found = result.read_check(run)
    assert (code, verdicts(found)["buffers"], verdicts(found)["weights"]) == (3, "error", "pass")
    assert "precision.config.do_buffers" in [one.key for one in found.todo]
    packs.write(b, packs.own(), **{**main_parts(), "buffers__step0__rank0__buffer": "{}"})
    assert check(tmp_path / "runs", a, b)[0] == 3


def test_that_packs_without_buffers_are_incomplete_unless_mindspore_wrote_them(tmp_path: Path) -> None:
    parts = main_parts()
    parts.pop("buffers__step0__rank0__buffer")
    for framework, uncovered in (("torch", [{"names": "buffers"}]), ("mindspore", [])):
        a = packs.write(tmp_path / "a.zip", packs.own(framework=framework), **parts)
        b = packs.write(tmp_path / "b.zip", packs.own(framework=framework), **parts)
        code, run = check(tmp_path / "runs", a, b)
        assert [sentence.args for sentence in result.read_check(run).uncovered] == uncovered
        assert code == (3 if uncovered else 0)


def test_that_a_torch_training_leaves_its_buffers_as_they_are_before_its_first_step(tmp_path: Path) -> None:
    script = TORCH.replace(
        "self.layer, self.drop =",
        "self.register_buffer('mask', torch.eye(3) > 0, persistent=False); "
        "self.norm = torch.nn.BatchNorm1d(8); self.layer, self.drop =",
    ).replace("self.drop(self.layer(x))", "self.drop(self.norm(self.layer(x)))")
    printed = train(tmp_path / "a", script, "3")
    assert lines(printed, "loss") == lines(train(tmp_path / "plain", script, "3", hooks="curves"), "loss")
    figures = json.loads(members(tmp_path / "a")["buffers/step0/rank0/buffer.json"])
    assert figures["norm.running_var"] == {"max": 1.0, "min": 1.0, "mean": 1.0, "norm": pytest.approx(8**0.5)}
    assert (figures["norm.num_batches_tracked"]["max"], figures["mask"]["norm"]) == (0, pytest.approx(3**0.5))
    other = script.replace("net = Net()", "net = Net(); net.norm.running_var.mul_(2)")
    train(tmp_path / "b", other, "3")
    code, run = check(tmp_path / "runs", tmp_path / "a", tmp_path / "b")
    found = verdicts(result.read_check(run))
    assert (code, found["weights"], found["buffers"]) == (3, "pass", "error")


def test_that_a_rank_or_a_part_of_one_side_alone_is_no_success(
    tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    for rank in range(2):
        packs.write(tmp_path / "a" / f"rank{rank}.zip", packs.own(rank=rank), **(main_parts() if rank == 0 else {}))
    packs.write(tmp_path / "b" / "rank0.zip", packs.own(rank=0), **main_parts())
    code, run = check(tmp_path / "runs", tmp_path / "a", tmp_path / "b", interpreter("exit 0"))
    assert (code, result.read_check(run).equal) == (3, False)
    answer = work.config_check_answer(run)
    assert answer["uncovered"] == [{"key": "precision.config.rank_alone", "args": {"side": "A", "ranks": "1"}}]
    notes = [event.key for event in last_events(run.folder, 1 << 16) if isinstance(event, Note)]
    assert notes[0] == "precision.config.verdict_incomplete"
    packs.write(tmp_path / "b" / "rank1.zip", packs.own(rank=1), weights__step0__rank1__weight=WEIGHTS)
    code, run = check(tmp_path / "runs", tmp_path / "a", tmp_path / "b", interpreter("exit 0"))
    answer = work.config_check_answer(run)
    assert (code, answer["uncovered"][0]["args"]) == (3, {"side": "B", "names": "weights"})


def packed_run(folder: Path, line: list[str], **pack: Any) -> Path:
    """A run of the studio that kept a pack, and `code` as its code.json."""
    run = runs.create(folder, "script", {"program": {"line": line, "workdir": str(folder), "python": ""}})
    own = pack.pop("own", {})
    (run.folder / "code.json").write_text(json.dumps(pack.pop("code", {"sources": {"train.py": "aa"}})))
    packs.write(run.folder / "artifacts" / "config" / "rank0.zip", packs.own(**own), **pack)
    return run.folder


LINE = ["python", "train.py", "--lr", "0.1", "--batch-size", "8"]
MEMBERS = {"weights__step0__rank0__weight": WEIGHTS, "dataset__step0__rank0__dataset": f'{{"args": {WEIGHTS}}}',
           "random__rank0": '{"torch.randn": [{"count": 2, "stack": ["x"]}]}', "pip": "torch=2.6.0\n",
           "buffers__step0__rank0__buffer": "{}",
           "env": '{"LR_SCALE": "1", "BATCH_SIZE": "8"}'}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        (["python", "train.py", "--lr", "0.2", "--batch-size", "8"], {}),
        (["python", "train.py", "--lr", "0.1", "--batch-size", "16"], {}),
        (["python", "train.py", "--lr=0.1", "--batch-size", "8", "--dtype", "bf16"], {}),
        (LINE, {"weights__step0__rank0__weight": WEIGHTS.replace("1.0", "1.0001")}),
        (LINE, {"weights__step0__rank0__weight": WEIGHTS.replace("2.0", "2.001")}),
        (LINE, {"weights__step0__rank0__weight": WEIGHTS.replace("0.0", "0.001")}),
        (LINE, {"weights__step0__rank0__weight": WEIGHTS.replace("layer.weight", "layer.other")}),
        (LINE, {"dataset__step0__rank0__dataset": f'{{"args": {WEIGHTS.replace("-1.0", "-2.0")}}}'}),
        (LINE, {"random__rank0": '{"torch.randn": [{"count": 3, "stack": ["x"]}]}'}),
        (LINE, {"pip": "torch=2.5.1\n"}),
        (LINE, {"own": {"seeds": {"torch.seed": 4, "torch.state": "bb"}}}),
        (LINE, {"own": {"framework": "mindspore"}}),
        (LINE, {"own": {"determinism": {"torch.deterministic_algorithms": False, "HCCL_DETERMINISTIC": None}}}),
        (LINE, {"weights__step0__rank0__weight": ""}),
        (LINE, {"weights__step1__rank0__weight": WEIGHTS}),
        (LINE, {"env": '{"LR_SCALE": "2", "BATCH_SIZE": "8"}'}),
        ([*LINE, "--fancy-kernel"], {}),
        ([*LINE, "--checkpoint-path", "/a/pretrained.pth"], {}),
        ([*LINE, "--num-workers", "4"], {}),
        ([*LINE, "extra.yaml"], {}),
        (LINE, {"own": {"versions": {"python": "3.11.7", "torch": "2.12.0"}}}),
        (LINE, {"own": {"threads": {"OMP_NUM_THREADS": "8"}}}),
        (LINE, {"code": {"commit": "", "dirty": None, "sources": {"train.py": "other"}}}),
        (LINE, {"pip": "torch=2.6.0\nrich=13.0\n"}),
        (LINE, {"code": {"commit": "", "dirty": None}}),
        (LINE, {"code": {"sources": {"train.py": ""}}}),
    ],
)
def test_that_no_planted_difference_is_a_success(
    tmp_path: Path, interpreter: Callable[[str], Path], line: list[str], changed: dict[str, Any]
) -> None:
    golden, same = (packed_run(tmp_path / "trained", LINE, **MEMBERS) for _ in range(2))
    target = packed_run(tmp_path / "trained", line, **{**MEMBERS, **changed})
    assert check(tmp_path / "runs", golden, same, interpreter("exit 0"))[0] == 0
    assert check(tmp_path / "runs", golden, target, interpreter("exit 0"))[0] == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"weights__step0__rank0__weight": None},
        {"dataset__step0__rank0__dataset": None},
        {"dataset__step0__rank0__dataset": "{}"},
        {"dataset__step0__rank0__dataset": "{"},
        {"random__rank0": None},
        {"pip": None},
        {"own": {"world": 2}},
        {"weights__step0__rank0__weight": WEIGHTS.replace("-1.0", "NaN")},
    ],
)
def test_that_what_both_sides_lack_is_no_success(
    tmp_path: Path, interpreter: Callable[[str], Path], changed: dict[str, Any]
) -> None:
    members = {name: text for name, text in {**MEMBERS, **changed}.items() if text is not None}
    golden, target = (packed_run(tmp_path / "trained", LINE, **members) for _ in range(2))
    code, run = check(tmp_path / "runs", golden, target, interpreter("exit 0"))
    answer = work.config_check_answer(run)
    assert code == 3
    assert not answer["complete"] or answer["verdict"] == "error"


HEALTHY: dict[str, tuple[list[str], dict[str, Any]]] = {
    "another folder": (["python", "/elsewhere/train.py", *LINE[2:]], {}),
    "another name of the run": ([*LINE, "--run-name", "second"], {}),
    "another folder for what it writes": ([*LINE, "--output-dir", "/scratch/b", "--logging_dir=/scratch/c"], {}),
    "another interval of printing": ([*LINE, "--log-interval", "50", "--disable-tqdm"], {}),
    "another port": ([*LINE, "--master-port", "29501"], {}),
    "options in another order": ([*LINE[:2], *LINE[4:], *LINE[2:4]], {}),
    "an option with an equals sign": ([*LINE[:2], f"{LINE[2]}={LINE[3]}", *LINE[4:]], {}),
    "another variable of the desktop": (LINE, {"env": '{"LR_SCALE": "1", "BATCH_SIZE": "8", "GDK_SCALE": "2"}'}),
    "another interpreter of the same versions": (LINE, {"own": {"python": "/opt/other/bin/python"}}),
    "another name of the project": ([*LINE, "--wandb-project", "port", "--exp_name", "b", "--report-to", "none"], {}),
    "packages written otherwise": (LINE, {"pip": "Torch=2.6.0\n"}),
    "generators that no script has to use": (LINE, {"own": {"seeds": {"torch.seed": 3, "torch.state": "aa"}}}),
}  # fmt: skip


@pytest.mark.parametrize("pair", HEALTHY)
def test_that_no_healthy_pair_is_a_difference(tmp_path: Path, interpreter: Callable[[str], Path], pair: str) -> None:
    line, changed = HEALTHY[pair]
    golden = packed_run(tmp_path / "trained", LINE, **MEMBERS)
    target = packed_run(tmp_path / "trained", line, **{**MEMBERS, **changed})
    code, run = check(tmp_path / "runs", golden, target, interpreter("exit 0"))
    found = result.read_check(run)
    assert (code, found.outcome, found.equal) == (0, "pass", True), [
        row for part in found.parts for row in part.rows if row.level != "pass"
    ]


def test_that_determinism_that_is_off_on_both_sides_is_no_difference(
    tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    own = {"own": {"determinism": {"torch.deterministic_algorithms": False}}}
    sides = [packed_run(tmp_path / "trained", LINE, **{**MEMBERS, **own}) for _ in range(2)]
    code, run = check(tmp_path / "runs", *sides, interpreter("exit 0"))
    assert (code, result.read_check(run).outcome) == (0, "pass")
    assert "precision.config.deterministic_torch" in [sentence.key for sentence in result.read_check(run).todo]


def test_that_another_learning_rate_or_command_line_is_told_and_no_secret(
    tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    (tmp_path / "trained").mkdir()
    line = ["python", "/data/here/train.py", "--lr", "0.1", "--api-key", SECRET, "--log-every", "5"]
    a = packed_run(tmp_path / "trained", line, **MEMBERS)
    other = ["python", "/other/train.py", "--lr", "0.2", "--api-key", "another-key-of-mine", "--log-every", "9"]
    b = packed_run(tmp_path / "trained", other, **MEMBERS)
    code, run = check(tmp_path / "runs", a, b, interpreter("exit 0"))
    options = {one.name: one for one in result.read_check(run).parts}["options"]
    assert code == 3
    assert [(row.level, *row.cells) for row in options.rows if row.level != "pass"] == [
        ("error", "--lr", "0.1", "0.2")
    ]  # fmt: skip
    harmless = [note.args for note in result.read_check(run).notes if note.key.endswith("harmless_options")]
    assert harmless == [{"names": "--log-every"}]
    assert SECRET not in (run.folder / result.CONFIG_CHECK_FILE).read_text()
    same = packed_run(tmp_path / "trained", line, **MEMBERS)
    assert check(tmp_path / "runs", a, same, interpreter("exit 0"))[0] == 0


def test_that_packs_with_nothing_in_common_are_said_to_have_none(
    tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    a = packs.write(tmp_path / "a.zip", None, pip="torch=1\n")
    b = packs.write(tmp_path / "b.zip", packs.own())
    with pytest.raises(StudioError, match="nothing can be compared"):
        check(tmp_path / "runs", a, b, interpreter("exit 0"))


def test_that_wrong_sides_are_marked_before_anything_runs(tmp_path: Path) -> None:
    spec = ConfigCheckSpec(packs=Packs(side_b=tmp_path / "gone"))
    assert [(one.field, one.rule) for one in schema.problems(spec)] == [
        ("side_a", "precision.config.no_side"), ("side_b", "precision.config.no_such_place")
    ]  # fmt: skip


# MindSpore


def test_that_a_mindspore_training_leaves_a_pack_and_keeps_its_own_functions(tmp_path: Path) -> None:
    printed = train(tmp_path / "a", MINDSPORE, "pynative")
    plain = train(tmp_path / "plain", MINDSPORE, "pynative", hooks="curves")
    assert lines(printed, "loss") == lines(plain, "loss")
    assert lines(printed, "given back") == lines(plain, "given back")
    found = members(tmp_path / "a")
    assert len(json.loads(found["weights/step0/rank0/weight.json"])) == 4
    assert json.loads(found["dataset/step0/rank0/dataset.json"])["args"]["0"]["norm"] > 0
    own = json.loads(found["studio.json"])
    assert (own["framework"], own["determinism"]["mindspore.mode"]) == ("mindspore", "PYNATIVE_MODE")
    assert not [name for name, text in found.items() if SECRET in text]


def test_that_a_compiled_mindspore_training_leaves_its_seeds_though_no_network_is_called(tmp_path: Path) -> None:
    printed = train(tmp_path / "a", MINDSPORE, "graph")
    assert len(lines(printed, "loss")) == 3
    found = members(tmp_path / "a")
    assert found.keys() == {"env", "pip", "studio.json"}
    assert json.loads(found["studio.json"])["determinism"]["mindspore.mode"] == "GRAPH_MODE"


# Where msprobe cannot help


def test_that_a_training_without_msprobe_leaves_our_own_part(tmp_path: Path) -> None:
    package = tmp_path / "modules" / "msprobe"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('no such library')")
    printed = train(tmp_path / "a", TORCH, "3", PYTHONPATH=f"{GUEST}:{package.parent}")
    assert len(lines(printed, "loss")) == 4
    assert members(tmp_path / "a").keys() == {"env", "pip", "studio.json", "buffers/step0/rank0/buffer.json"}
    (note,) = [event for event in last_events(tmp_path / "a") if isinstance(event, Note)]
    assert (note.key, note.args) == (
        "precision.config.without_msprobe", {"reason": "ImportError: no such library"}
    )  # fmt: skip
