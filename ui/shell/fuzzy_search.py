"""How well what was typed fits a text: letters in order, best at the starts of words, Chinese also by its initials."""

from __future__ import annotations

from bisect import bisect_right

# In GB 2312 the 3755 common characters are sorted by their pinyin: the first code of each initial.
_STARTS = (
    (0xB0A1, "a"), (0xB0C5, "b"), (0xB2C1, "c"), (0xB4EE, "d"), (0xB6EA, "e"), (0xB7A2, "f"), (0xB8C1, "g"),
    (0xB9FE, "h"), (0xBBF7, "j"), (0xBFA6, "k"), (0xC0AC, "l"), (0xC2E8, "m"), (0xC4C3, "n"), (0xC5B6, "o"),
    (0xC5BE, "p"), (0xC6DA, "q"), (0xC8BB, "r"), (0xC8F6, "s"), (0xCBFA, "t"), (0xCDDA, "w"), (0xCEF4, "x"),
    (0xD1B9, "y"), (0xD4D1, "z"), (0xD7FA, ""),
)  # fmt: skip
_CODES = [code for code, _ in _STARTS]


def initials(text: str) -> str:
    """'启动训练' -> 'qdxl'; characters that are not common Chinese are left out."""
    return "".join(_initial(character) for character in text)


def _initial(character: str) -> str:
    try:
        code = int.from_bytes(character.encode("gb2312"), "big")
    except UnicodeEncodeError:
        return ""
    position = bisect_right(_CODES, code) - 1
    return _STARTS[position][1] if code > 0xFF and position >= 0 else ""


def score(typed: str, text: str) -> int | None:
    """None where a letter is missing. Whole pieces beat scattered letters, early beats late, short beats long."""
    typed, text = "".join(typed.lower().split()), text.lower()
    if not typed:
        return 0
    joined = "".join(text.split())
    if typed in joined:
        starts = any(word.startswith(typed) for word in text.split()) or joined.startswith(typed)
        return 1000 + 200 * starts - joined.index(typed) - len(joined) // 8
    return _scattered(typed, text)


def _scattered(typed: str, text: str) -> int | None:
    points, at, before = 0, 0, -2
    for letter in typed:
        at = text.find(letter, at)
        if at < 0:
            return None
        starts_word = at == 0 or not text[at - 1].isalnum()
        points += 8 * starts_word + 5 * (before == at - 1) - min(at - before, 10) // 2
        before = at
        at += 1
    return 100 + points


def best(typed: str, texts: tuple[str, ...]) -> int | None:
    """The best score over several names of the same entry, including the initials of Chinese ones."""
    names = (*texts, *(short for text in texts if (short := initials(text))))
    scores = [value for name in names if (value := score(typed, name)) is not None]
    return max(scores, default=None)
