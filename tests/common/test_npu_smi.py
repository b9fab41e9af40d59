"""npu-smi: recorded outputs of several chips and versions, and texts of any kind."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.common.npu_smi import Holder, holders, read, run_npu_smi
from studio.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = ROOT / "tests" / "recorded" / "npu_smi"
HEAD = """
+--------+------------------+---------------+-----------------------------------------------------+
| NPU ID | Name             | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |
|        |                  | Bus-Id        | NPU Util(%) Memory-Usage(MB)  HBM-Usage(MB)         |
+========+==================+===============+=====================================================+
"""
OF_950 = (
    HEAD
    + """| 3      | Ascend950        | OK            | 120.5       40                0     / 0             |
|        |                  | NA            | 12          0    / 0          2048  / 131072        |
+========+==================+===============+=====================================================+
| NPU ID                    | Process id    | Process name             | Process memory(MB)       |
+===========================+===============+=====================================================+
| 3                          | 4242          | python                   | 1024                    |
"""
)


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text()


FILES = {
    "310P3_22.0.2": ("22.0.0", 1, 0), "310P3_25.3.rc1": ("25.3.rc1", 1, 0), "310P3_two_chips": ("", 2, 0),
    "310_23.0.0": ("23.0.0", 1, 0), "910B2_25.0.rc1.1_processes": ("25.0.rc1.1", 8, 40),
    "910B4_25.5.2_one_of_eight": ("25.5.2", 1, 0), "910C_24.1.rc3.7_two_chips": ("24.1.rc3.7", 16, 0),
    "910ProB_23.0.rc1_process": ("23.0.rc1", 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_that_a_recorded_output_is_understood_whole(name: str) -> None:
    found = read(recorded(name))
    assert (found.version, len(found.cards), len(found.processes)) == FILES[name]
    assert found.is_numeric
    assert all(card.health == "OK" and card.total and card.used is not None for card in found.cards)
    assert [card.device for card in found.cards] == list(range(len(found.cards)))


def test_that_every_recorded_output_is_tested() -> None:
    assert {path.stem for path in RECORDED.glob("*.txt")} == FILES.keys()


def test_that_a_card_is_read_with_its_units() -> None:
    card = read(recorded("910ProB_23.0.rc1_process")).cards[0]
    assert (card.name, card.power, card.temperature, card.use) == ("910ProB", 78.4, 33, 0)
    assert (card.used, card.total, card.bus) == (30711, 32768, "0000:C1:00.0")  # the HBM, not the other memory
    card = read(recorded("310P3_25.3.rc1")).cards[0]
    assert (card.card, card.device, card.power, card.used, card.total) == (6, 0, None, 1839, 21525)


def test_that_chips_of_one_card_are_devices_of_their_own() -> None:
    cards = read(recorded("910C_24.1.rc3.7_two_chips")).cards
    assert [(card.card, card.chip, card.device) for card in cards[:4]] == [(0, 0, 0), (0, 1, 1), (1, 0, 2), (1, 1, 3)]
    assert (cards[1].power, cards[1].temperature, cards[15].used) == (None, 37 - 1, 3188)
    assert [card.chip for card in read(recorded("310P3_two_chips")).cards] == [0, 1]


def test_that_an_ascend_950_has_no_chips() -> None:
    found = read(OF_950)
    assert found.is_numeric
    assert (found.cards[0].card, found.cards[0].name, found.cards[0].use, found.cards[0].total) == (
        3,
        "Ascend950",
        12,
        131072,
    )
    assert [(one.card, one.chip, one.pid) for one in found.processes] == [(3, 0, 4242)]
    assert [one.device for one in holders(OF_950, [0])] == [0]


def test_that_holders_are_those_of_the_asked_devices() -> None:
    text = recorded("910B2_25.0.rc1.1_processes")
    assert [one.pid for one in holders(text, [4])] == [875]
    assert [one.device for one in holders(text, [0, 6])] == [6]
    assert len(holders(text, [])) == 40
    assert holders(text, [0]) == ()


def test_that_a_holder_has_its_user_and_command_where_proc_knows_them() -> None:
    line = [sys.executable, "-c", "print(flush=True); input()", "train.py"]
    child = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()  # it runs
        name = os.path.basename(sys.executable)  # noqa: PTH119
        text = recorded("910ProB_23.0.rc1_process").replace("55115 ", f"{child.pid:<6}").replace("python ", f"{name} ")
        (one,) = holders(text, [0])
        assert (one.pid, one.user) == (child.pid, pwd.getpwuid(os.getuid()).pw_name)
        assert one.command.endswith("input() train.py")
        assert (one.memory, one.card, one.chip) == (30784, 0, 0)
        other = text.replace(f"| {name} ", "| redis-server ")
        assert holders(other, [0])[0] == Holder(
            device=0, card=0, chip=0, pid=child.pid, name="redis-server", memory=30784
        )  # of another pid namespace
    finally:
        child.communicate(b"\n")


def test_that_a_layout_that_nobody_knows_says_so() -> None:
    whole = recorded("910ProB_23.0.rc1_process")
    for text in (
        "",
        "nothing",
        whole.replace("78.4        33  ", "warm        33  "),
        whole.replace("55115 ", "many  "),
    ):
        assert not read(text).is_numeric
    assert read(whole.replace("55115 ", "many  ")).unread


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_that_no_text_raises(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([recorded(name) for name in FILES] + [OF_950]))[:3000]
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.text(max_size=20) | st.just("9" * 400) | st.just("|")) + text[at + 5 :]
    found = read(text)
    assert isinstance(holders(text, [0]), tuple)
    assert len(found.cards) <= text.count("|")


def program(folder: Path, text: str) -> None:
    path = folder / "npu-smi"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def test_that_npu_smi_is_run_within_a_time_and_asked_for_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert run_npu_smi() is None or "npu-smi" in str(run_npu_smi())  # what this host has
    program(tmp_path, f'test "$1" = info && cat "{RECORDED}/310_23.0.0.txt"')
    assert run_npu_smi(60) == recorded("310_23.0.0")
    program(tmp_path, "echo 'dcmi module initialize failed. ret is -8005'; exit 1")
    assert run_npu_smi(60) is None
    program(tmp_path, "sleep 600 & sleep 600")
    assert run_npu_smi(0.2) is None
