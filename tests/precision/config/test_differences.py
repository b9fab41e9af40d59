"""Seeds, switches and packages: which differences count, and what is to be done about them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backends.precision.config import code, extra_checks, members, options, pip
from backends.precision.config.pack import read_pack
from backends.precision.config.statistics import statistics_level
from studio import run as runs
from studio.texts import t
from tests.precision.config import packs

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.config.pack import Pack


@pytest.fixture
def pair(tmp_path: Path) -> Any:
    def make(golden: dict[str, Any], target: dict[str, Any]) -> tuple[Pack, Pack]:
        a = read_pack(packs.write(tmp_path / "a.zip", packs.own(**golden)))
        return a, read_pack(packs.write(tmp_path / "b.zip", packs.own(**target)))

    return make


def verdicts(found: tuple[Pack, Pack]) -> dict[str, str]:
    return {one.name: one.verdict for one in extra_checks.extra_parts([found])}


def todo(found: tuple[Pack, Pack]) -> list[str]:
    return [t(one.key, **one.args) for one in extra_checks.todo([found], extra_checks.extra_parts([found]))]


def test_that_equal_sides_have_nothing_to_do(pair: Any) -> None:
    found = pair({}, {})
    assert set(verdicts(found).values()) == {"pass"}
    assert todo(found) == []


def test_that_another_seed_is_an_error_that_says_which(pair: Any) -> None:
    found = pair({}, {"seeds": {"torch.seed": 4, "torch.state": "bb"}})
    assert verdicts(found)["seeds"] == "error"
    assert todo(found) == ["Set the same seed on both sides: torch.seed is 3 on A and 4 on B."]


def test_that_the_same_seed_in_another_state_is_told_apart_from_another_seed(pair: Any) -> None:
    found = pair({}, {"seeds": {"torch.seed": 3, "torch.state": "bb"}})
    assert verdicts(found)["seeds"] == "error"
    assert todo(found)[0].startswith("The seeds are equal, but the random generators are in different states")


def test_that_a_generator_that_a_script_may_not_use_is_a_warning(pair: Any) -> None:
    found = pair({"seeds": {"python.state": "aa"}}, {"seeds": {"python.state": "bb"}})
    assert verdicts(found)["seeds"] == "warning"


def test_that_an_npu_and_a_gpu_differ_in_the_switches_that_both_have_alone(pair: Any) -> None:
    gpu = {"devices": ["NVIDIA A100"], "seeds": {"torch.cuda.seed": 3}}
    npu = {"devices": ["Ascend910B1"], "seeds": {"torch.npu.seed": 3}}
    switches = {"torch.deterministic_algorithms": True, "HCCL_DETERMINISTIC": "true", "NCCL_ALGO": None}
    other = {"torch.deterministic_algorithms": True, "HCCL_DETERMINISTIC": None, "NCCL_ALGO": "Ring"}
    found = pair({**gpu, "determinism": other}, {**npu, "determinism": switches})
    assert verdicts(found) == {"seeds": "pass", "determinism": "pass", "versions": "warning", "threads": "pass"}
    found = pair({**gpu, "determinism": other}, {**npu, "determinism": {"torch.deterministic_algorithms": False}})
    assert verdicts(found)["determinism"] == "error"


def test_that_two_npus_differ_in_the_determinism_of_their_communication(pair: Any) -> None:
    npu: dict[str, Any] = {"devices": ["Ascend910B1"], "world": 2}
    on = {"torch.deterministic_algorithms": True, "HCCL_DETERMINISTIC": "true"}
    found = pair({**npu, "determinism": on}, {**npu, "determinism": {**on, "HCCL_DETERMINISTIC": None}})
    assert verdicts(found)["determinism"] == "error"
    assert todo(found) == [
        "Set HCCL_DETERMINISTIC to the same value: A has true, B has –.",
        "At least one side does not compute deterministically. Set torch.use_deterministic_algorithms(True); "
        "on an NPU also "
        "HCCL_DETERMINISTIC=true.",
    ]


@pytest.mark.parametrize(
    "switches",
    [
        {"torch.deterministic_algorithms": False},
        {"torch.deterministic_algorithms": None},
        {},
        {"HCCL_DETERMINISTIC": None},
    ],
)
def test_that_determinism_that_is_off_on_both_sides_is_no_pass(pair: Any, switches: dict[str, Any]) -> None:
    found = pair({"determinism": switches}, {"determinism": switches})
    assert verdicts(found)["determinism"] == "warning"
    on = {"torch.deterministic_algorithms": True}
    assert verdicts(pair({"determinism": on}, {"determinism": on}))["determinism"] == "pass"


def test_that_uncommitted_code_that_differs_is_told(tmp_path: Path) -> None:
    """Two runs of one commit, whose model.py was edited between them."""
    sides = []
    for name, patch in (("a", b"- x\n+ x * 1.02\n"), ("b", b"- x\n+ x * 1.01\n")):
        run = runs.create(tmp_path / name, "launch", {}, None)
        (run.folder / "code.json").write_text('{"commit": "a30616a0f4ef00", "dirty": true}')
        (run.folder / "code.patch").write_bytes(patch)
        sides.append(run.folder)
    part = code.code_part(*sides)
    assert part is not None
    assert [row.cells[0] for row in part.rows if row.level != "pass"] == ["commit"]


def test_that_threads_and_versions_are_warnings(pair: Any) -> None:
    found = pair({}, {"threads": {"OMP_NUM_THREADS": "8"}, "versions": {"python": "3.10.1", "torch": "2.13.0"}})
    assert (verdicts(found)["threads"], verdicts(found)["versions"]) == ("warning", "warning")
    assert todo(found)[0].startswith("Set OMP_NUM_THREADS to the same value: A has 1, B has 8.")


def test_that_weights_and_data_are_compared_without_msprobe_too(tmp_path: Path) -> None:
    one = '{"w": {"max": 1, "min": 0, "mean": 0.5, "norm": 2}, "b": {"max": 1, "min": 0, "mean": 0.5, "norm": 1}}'
    data = '{"args": {"0": {"max": 9, "min": 0, "mean": 4, "norm": 5}}, "kwargs": {}}'
    calls = '{"torch.randn": [{"count": 2, "stack": ["x"]}, {"count": 1, "stack": ["y"]}]}'
    a = packs.write(
        tmp_path / "a.zip", None, weights__step0__rank0__weight=one, dataset__step0__rank0__dataset=data,
        random__rank0=calls,
    )  # fmt: skip
    b = packs.write(
        tmp_path / "b.zip", None, weights__step0__rank0__weight=one.replace("2}", "3}"),
        dataset__step0__rank0__dataset=data, random__rank0=calls.replace("1,", "5,"),
    )  # fmt: skip
    found = {one.name: one for one in members.member_parts([(read_pack(a), read_pack(b))])}
    assert {name: one.verdict for name, one in found.items()} == {
        "weights": "error", "dataset": "pass", "random": "error"
    }  # fmt: skip
    assert found["weights"].rows[0].cells[:2] == ("step0/rank0", "w")
    assert found["random"].rows[0].cells == ("rank0", "torch.randn", "3", "7")


def statistics(mean: float, norm: float, high: float = 1.5) -> dict[str, float]:
    return {"max": high, "min": -1.25, "mean": mean, "norm": norm}


@pytest.mark.parametrize(
    ("golden", "target", "level"),
    [
        (statistics(0, 2), statistics(1e-7, 2), "pass"),
        (statistics(0.25, 2), statistics(0.25, 2.0000005), "pass"),
        (statistics(0, 2), statistics(1e-5, 2), "error"),
        (statistics(0.25, 2), statistics(0.25, 2.00001), "error"),
        (statistics(0.25, 2), statistics(0.25, 2, high=1.5000001), "error"),
        ({**statistics(5, 2, 9.0), "min": 0}, {**statistics(5.000001, 2, 9.0), "min": 0}, "warning"),
        ({**statistics(1, 2, 1.0), "min": 1}, {**statistics(1, 2.0000005, 1.0), "min": 1}, "pass"),
        (statistics(0.25, 2), {**statistics(0.25, 2), "mean": None}, "error"),
    ],
)
def test_that_sums_may_differ_by_their_rounding_and_extremes_may_not(golden: Any, target: Any, level: str) -> None:
    assert statistics_level(golden, target) == level


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("--lr", "error"), ("--learning-rate", "error"), ("--model.hidden_size", "error"), ("weight_decay", "error"),
        ("--warmup-steps", "error"), ("--train_batch_size", "error"), ("--dtype", "error"),
        ("--label-smoothing", "error"), ("--model", "error"), ("--reduction", "error"), ("--max-length", "error"),
        ("--lora_alpha", "error"), ("--rope-theta", "error"), ("--freeze", "error"), ("--use-ema", "error"),
        ("--num-workers", "warning"), ("--device", "warning"), ("--flash-attention", "warning"),
        ("--eval-steps", "warning"), ("--checkpoint-path", "warning"), ("OMP_NUM_THREADS", "warning"),
    ],
)  # fmt: skip
def test_that_an_option_that_changes_what_is_computed_counts_more(name: str, level: str) -> None:
    assert options._row(name, "1", "2").level == level


NO_NUMBER = (
    "--output", "--output-dir", "--out_dir", "--log-model", "--run-name", "--log-steps", "--save_steps", "--local-rank",
    "--logging-dir", "--log_dir", "--logdir", "--log-level", "--log_interval", "--log-every", "--log_every_n_steps",
    "--log-freq", "--log-file", "--logger", "--logging", "--logging-steps",
    "--exp_name", "--wandb-project", "--report_to", "--master-port", "--disable-tqdm", "--save-path",
)  # fmt: skip


@pytest.mark.parametrize("name", NO_NUMBER)
def test_that_an_option_that_changes_no_number_is_in_no_table_but_named(tmp_path: Path, name: str) -> None:
    sides = [
        runs.create(
            tmp_path, "script", {"program": {"line": ["python", "train.py", name, value, "--lr", "0.1"]}}
        ).folder
        for value in ("a", "b")
    ]
    found = options.options_part(*sides)
    assert found is not None
    assert found.verdict == "pass"
    (note,) = options.harmless_options(*sides)
    assert t(note.key, **note.args).endswith(f": {name}.")


@pytest.mark.parametrize(
    "name",
    [
        "--checkpoint-path",
        "--eval-steps",
        "--data-dir",
        "--model-path",
        "--resume",
        "--num-workers",
        "--foo",
        "--output-scale",
        "--log_sigma",
        "--log-temperature",
        "--log-loss-scale",
        "--log-lr",
        "--logging-lr",
        "--print-loss-weight",
        "--report-temperature",
        "--hub_lr",
        "--hub-revision",
        "--wandb-dropout",
        "--group",
    ],
)
def test_that_an_option_in_no_list_is_not_harmless(name: str) -> None:
    assert not options._is_harmless(name)


# Packages

HERE = {"torch": "2.6.0+cu124", "NumPy": "1.26.4", "nvidia-nccl-cu12": "2.21.5", "flash_attn": "2.5", "einops": "0.8"}
THERE = {"torch": "2.5.1", "numpy": "1.26.4", "torch-npu": "2.5.1", "te": "0.4.0", "Einops": "0.7", "rich": "13.0"}


def test_that_the_commands_make_the_second_side_equal_as_far_as_it_can_be() -> None:
    rows = pip.compare_packages(HERE, THERE)
    assert pip.commands(rows) == ("pip install einops==0.8 torch==2.6.0", "pip uninstall -y rich")
    assert {row.cells[0]: row.level for row in rows if row.level != "pass"} == {
        "einops": "error", "torch": "error", "flash-attn": "warning", "nvidia-nccl-cu12": "warning",
        "te": "warning", "torch-npu": "warning", "rich": "warning",
    }  # fmt: skip
    assert {one.key.rpartition("_")[2]: one.args["packages"] for one in pip.left_over(rows)} == {
        "build": "torch", "cann": "te", "nvidia": "flash-attn, nvidia-nccl-cu12", "stays": "torch-npu"
    }  # fmt: skip


def test_that_the_same_version_for_another_device_is_no_error_and_no_command() -> None:
    rows = pip.compare_packages({"torch": "2.6.0+cu124"}, {"torch": "2.6.0+cpu"})
    assert ([row.level for row in rows], pip.commands(rows)) == (["warning"], ())
    assert [one.key for one in pip.left_over(rows)] == ["precision.config.pip_local"]


@pytest.mark.parametrize(
    ("name", "version"),
    [("x; rm -rf ~", "1.0"), ("-r", "1.0"), ("x", "1.0; reboot"), ("x", "$(reboot)"), ("x", "--pre"), ("x y", "1")],
)
def test_that_nothing_but_names_and_versions_gets_into_a_command(name: str, version: str) -> None:
    assert pip.commands(pip.compare_packages({name: version}, {})) == ()
    assert pip.commands(pip.compare_packages({}, {name: version})) in ((), ("pip uninstall -y x",))


TEXTS = some.dictionaries(some.text(max_size=8), some.text(max_size=8), max_size=6)
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-=")


@given(golden=TEXTS, target=TEXTS)
def test_that_a_command_is_words_that_no_shell_changes(golden: dict[str, str], target: dict[str, str]) -> None:
    assert PLAIN.issuperset("".join(pip.commands(pip.compare_packages(golden, target))))


def test_that_pip_reads_a_command_as_it_is_meant() -> None:
    (command,) = pip.commands(pip.compare_packages({"numpy": "1.26.4.post1", "six": "1.16.0rc1"}, {}))
    code = "import sys; from packaging.requirements import Requirement; print(*map(Requirement, sys.argv[1:]))"
    line = (sys.executable, "-c", code, *command.split()[2:])
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "numpy==1.26.4.post1 six==1.16.0rc1"
