"""The memory of the virtual cards: put together of all processes, and told in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.common.card_memory import CardMemory, MemoryReport
from studio import texts
from studio.events import Finding, Note
from studio.units import binary_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.launch.rehearse.parts import PartMemory
    from backends.launch.rehearse.report import Part

MAX_ROWS = 8  # modules and lines that are told; the file has all
KIND_KEYS = {
    "parameters": "launch.memory_kind.parameters", "buffers": "launch.memory_kind.buffers",
    "gradients": "launch.memory_kind.gradients", "optimizer": "launch.memory_kind.optimizer",
    "activations": "launch.memory_kind.activations", "temporary": "launch.memory_kind.temporary",
    "other": "launch.memory_kind.other",
}  # fmt: skip
FIT_KEYS = {"fits": "launch.rehearse.fits", "close": "launch.rehearse.close"}


def memory_of(parts: Sequence[Part]) -> MemoryReport | None:
    """Return what the cards of all processes held; None where no virtual card was there."""
    if not any(part.device == "virtual_npu" for part in parts):
        return None
    fakes = [part.fake for part in parts if part.fake is not None]
    cards = [_card(part.rank, card) for part in parts for card in part.memory]
    return MemoryReport(
        is_fake=bool(fakes),
        world=max((fake.world for fake in fakes), default=len(parts)),
        steps=max((part.steps for part in parts), default=0),
        cards=tuple(sorted(cards, key=lambda card: -card.peak)),
        assumed=tuple({(row.path, row.line): row for fake in fakes for row in fake.assumed}.values()),
        unfollowed=tuple({(row.path, row.line): row for fake in fakes for row in fake.refused}.values()),
    )


def _card(rank: int, card: PartMemory) -> CardMemory:
    return CardMemory(
        card=card.card, total=card.total, peak=card.peak, reserved=card.reserved, missing=card.missing,
        step=card.step + 1, kinds=card.kinds, modules=card.modules, refusal=card.refusal, rank=rank,
    )  # fmt: skip


def memory_events(report: MemoryReport) -> Iterable[Note | Finding]:
    """Tell how much the fullest card held and of what, whether it fits, and what that does not show."""
    if not report.cards:
        return
    yield peak_note(report)
    yield fit_event(report)
    for row in [assumed for assumed in report.assumed if assumed.use != "read"][:MAX_ROWS]:
        rule = "launch.rehearse.assumed_size" if row.use == "size" else "launch.rehearse.assumed_compared"
        yield Finding(rule=rule, severity="warning", path=row.path, line=row.line, args={"times": row.times})
    for gap in report.unfollowed[:MAX_ROWS]:
        args = {"operator": gap.operator, "reason": gap.reason}
        yield Finding(rule="launch.rehearse.unfollowed", severity="warning", path=gap.path, line=gap.line, args=args)


def peak_note(report: MemoryReport) -> Note:
    """Say how much the fullest card held and of what; without a step the peak of one is not among it."""
    card = report.cards[0]
    args: dict[str, Any] = {
        "rank": card.rank, "card": card.card, "peak": binary_size(card.peak), "reserved": binary_size(card.reserved),
        "total": binary_size(card.total), "step": card.step, "kinds": kinds_text(card.kinds),
        "modules": modules_text(card),
    }  # fmt: skip
    return Note(key="launch.rehearse.card_memory" if report.steps else "launch.rehearse.card_memory_so_far", args=args)


def kinds_text(kinds: dict[str, int]) -> str:
    rows = sorted(kinds.items(), key=lambda row: -row[1])
    return ", ".join(f"{texts.t(KIND_KEYS[kind])} {binary_size(size)}" for kind, size in rows if kind in KIND_KEYS)


def modules_text(card: CardMemory) -> str:
    rows = [(row.module, sum(row.kinds.values())) for row in card.modules if row.module][:3]
    return ", ".join(f"{module} {binary_size(size)}" for module, size in rows) or "–"


def fit_event(report: MemoryReport) -> Note | Finding:
    """Say whether it fits, of the fullest card, which nothing shows without a step; where it does not, at the line of
    the first request that failed."""
    worst = next(card for card in report.cards if card.fit == report.fit)
    args: dict[str, Any] = {
        "total": binary_size(worst.total), "left": binary_size(worst.total - worst.reserved),
        "error": round(100 * report.error), "rank": worst.rank, "world": report.world,
    }  # fmt: skip
    if worst.fit != "beyond" and not report.steps:
        return Finding(rule="launch.rehearse.fit_not_shown", severity="warning")
    if worst.fit != "beyond":
        return Note(key=FIT_KEYS[worst.fit], args=args)
    refusal = worst.refusal
    if refusal is None:
        return Finding(
            rule="launch.rehearse.beyond", severity="error", args=args | {"missing": binary_size(worst.missing)}
        )
    args |= {
        "missing": binary_size(worst.missing), "tried": binary_size(refusal.tried),
        "allocated": binary_size(refusal.allocated), "step": refusal.step + 1,
    }  # fmt: skip
    rule = "launch.rehearse.beyond" if report.is_fake else "launch.rehearse.out_of_memory"
    return Finding(rule=rule, severity="error", path=refusal.path, line=refusal.line, args=args)
