"""One event again, whole, with its arguments: they are not kept, but read when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.timeline.text.event import clean
from backends.timeline.text.loose import BAD, decoder, every_item
from backends.timeline.text.stream import part

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_decode = decoder(float)


def event_of(path: Path, chunks: NDArray[np.int64], number: int) -> dict[str, Any] | None:
    """`chunks`: first byte, byte behind the last, number of the first event, int64 [n, 3]. None where the file does not
    hold that event any more. Raises OSError."""
    chunk = int(np.searchsorted(chunks[:, 2], number, "right")) - 1 if len(chunks) else -1
    if chunk < 0 or number < 0:
        return None
    begin, end, first = (int(each) for each in chunks[chunk])
    item = _item(part(path, begin, end), number - first)
    return _clean(item) if isinstance(item, dict) else None


def _item(data: bytes, place: int) -> Any:
    """Parsed alone where the chunk is good JSON, which is fast."""
    try:
        literals = msgspec.json.decode(b"[" + data.rstrip(b", \t\r\n") + b"]", type=list[msgspec.Raw])
        return msgspec.json.decode(literals[place])
    except IndexError:
        return None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        items = every_item(data.decode("utf-8", "replace"), _decode)
    return items[place] if place < len(items) and items[place] is not BAD else None


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value
