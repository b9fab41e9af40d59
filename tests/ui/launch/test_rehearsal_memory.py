"""The memory and the operators of a rehearsal in the window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtWidgets import QLabel

from backends.common import card_memory, operator_inventory
from backends.common.card_memory import Assumed, CardMemory, MemoryReport, ModuleMemory, Shortage
from backends.common.operator_inventory import Cast, Dynamic, Inventory, OperatorRow, Wait
from studio import files
from tests.ui import looks
from tests.ui.launch.rehearsals import REPORT, rehearsed
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.curves.page import CurvesPage
    from ui.services.session import Session

GIB = 1 << 30
SHORTAGE = Shortage(
    tried=GIB, allocated=60 * GIB, reserved=62 * GIB, path="/x/train.py", line=9, step=1, phase="forward", module="Net"
)
CARD = CardMemory(
    card=0, total=64 * GIB, peak=90 * GIB, reserved=95 * GIB, missing=31 * GIB, step=2, refusal=SHORTAGE,
    kinds={"parameters": 50 * GIB, "activations": 40 * GIB},
    modules=tuple(ModuleMemory(module=f"Net.layer{place}", kinds={"parameters": GIB}) for place in range(12)),
)  # fmt: skip
MEMORY = MemoryReport(
    is_fake=True, world=8, steps=3, cards=(CARD,),
    assumed=(Assumed(path="/x/train.py", line=4, use="size", times=2),),
)  # fmt: skip
ROW = OperatorRow(
    operator="aten.mm.default", kernel="kernel", support="documented", calls=3, phases=("forward",),
    dtypes=("float32",), shapes=("2x3 3x4",), shape_count=1,
)  # fmt: skip
INVENTORY = Inventory(
    operators=(ROW, replace(ROW, operator="aten.huber_loss.default", kernel="fallback")),
    waits=(Wait(operator="nonzero", path="/x/train.py", line=7, calls=4, bytes_read=3000),),
    dynamic=(
        Dynamic(
            operator="aten.mm.default", module="Net", path="/x/train.py", line=8, shapes=("a", "b"), count=2, step=2
        ),
    ),
    casts=tuple(Cast(path="/x/train.py", line=line, times=1) for line in range(9)),
)  # fmt: skip


def test_that_the_card_of_a_rehearsal_shows_memory_and_operators(
    page: CurvesPage, session: Session, qtbot: QtBot
) -> None:
    run = rehearsed(session, replace(REPORT, device="virtual_npu", device_operators=9, blocked=()), code=3)
    files.write_json(run.folder / card_memory.FILE, msgspec.to_builtins(MEMORY))
    files.write_json(run.folder / operator_inventory.FILE, msgspec.to_builtins(INVENTORY))
    card = page.content.rehearsal
    qtbot.waitUntil(card.isVisible)
    assert card.ended.text() == "The card has too little memory for it; how much, and where, is below."
    view = card.memory_view
    assert view.isVisible()
    assert view.fit.text() == (
        "It does not fit a card of 64.0 GiB (rank 0 of 8, estimate ± 10 %). Missing: 31.0 GiB.\n"
        "The card is full first at train.py:9, in step 2."
    )
    assert "train.py:4" in view.doubts.text()
    cells = [cell.text() for cell in view.findChildren(QLabel) if cell.isVisible()]
    assert {"Parameters", "50.0 GiB", "Activations", "40.0 GiB", "Net.layer0", "In use at the peak"} <= set(cells)
    assert "Net.layer8" not in cells
    operators = card.operators_view
    assert "has a kernel for 1" in operators.kernels.text()
    lines = operators.lines.text().splitlines()
    assert lines[0] == "train.py:0 asks for float64, and a card gives float32 (1 times)"
    assert "train.py:7 makes the host wait for the card: nonzero, 4 calls, 3.0 kB read" in lines
    assert lines[-1] == "3 more are in artifacts/operators.json."
    qtbot.waitUntil(lambda: looks.faults(card) == [])
    change_language("zh")
    assert view.fit.text().startswith("64.0 GiB 的卡放不下")
    looks.settle()
    assert looks.faults(card) == []


def test_that_a_rehearsal_without_a_virtual_card_shows_neither(
    page: CurvesPage, session: Session, qtbot: QtBot
) -> None:
    rehearsed(session, REPORT, code=3)
    qtbot.waitUntil(page.content.rehearsal.isVisible)
    assert page.content.rehearsal.memory_view.isHidden()
    assert page.content.rehearsal.operators_view.isHidden()
