"""What a capture came to, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.sentences import sentence_of
from studio.texts import t
from studio.units import duration, size

if TYPE_CHECKING:
    from backends.launch.capture.state import Rank


def first_step(rank: Rank) -> str:
    """What the first captured step took; "" before it is done."""
    if not rank.seconds:
        return ""
    times = {"seconds": duration(rank.seconds), "usual": duration(rank.usual) if rank.usual else "–"}
    if rank.byte_count:
        return t("capture.first_step", size=size(rank.byte_count), **times)
    return t("capture.times", **times)


def end_sentences(ranks: dict[int, Rank], count: int) -> list[str]:
    """What each rank's capture came to. A sentence stands once, with its ranks where not all of `count` have it."""
    ranks_by_sentence: dict[str, list[int]] = {}
    for number, rank in ranks.items():
        ranks_by_sentence.setdefault(_end(rank), []).append(number)
    return [_with_ranks(sentence, ranks, count) for sentence, ranks in ranks_by_sentence.items() if sentence]


def _with_ranks(sentence: str, ranks: list[int], count: int) -> str:
    if len(ranks) == count:
        return sentence
    return t("capture.of_ranks", ranks=", ".join(map(str, ranks)), said=sentence)


def _end(rank: Rank) -> str:
    if rank.finding:
        return sentence_of(rank.finding)
    if rank.state == "withdrawn":
        return t("capture.withdrawn")
    if rank.state != "done":
        return ""
    first, last = rank.start, rank.start + rank.done - 1
    key = "capture.finished" if last > first else "capture.finished_one"
    times = t("capture.times", seconds=duration(rank.seconds), usual=duration(rank.usual)) if rank.usual else ""
    ended = t("curves.joined", first=t(key, first=first, last=last, size=size(rank.byte_count)), then=times).strip()
    return "\n".join((ended, t("capture.shim"))) if rank.shim else ended
