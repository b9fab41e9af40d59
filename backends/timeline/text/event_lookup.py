"""One event read again with its arguments: these are not stored, but read on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.timeline.text.byte_stream import part
from backends.timeline.text.event import clean
from backends.timeline.text.lenient_json import BAD, decoder, every_item

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_decode = decoder(float)


def event_of(path: Path, chunks: NDArray[np.int64], number: int) -> dict[str, Any] | None:
    """Return an event, or None where the file no longer contains it. `chunks`: first byte, byte after the last, number
    of the first event, int64 [n, 3]. Raises OSError."""
    chunk = int(np.searchsorted(chunks[:, 2], number, "right")) - 1 if len(chunks) else -1
    if chunk < 0 or number < 0:
        return None
    begin, end, first = (int(each) for each in chunks[chunk])
    item = _item(part(path, begin, end), number - first)
    return _clean(item) if isinstance(item, dict) else None


def _item(data: bytes, position: int) -> Any:
    """Return one item; it is parsed alone where the chunk is valid JSON, which is fast."""
    try:
        literals = msgspec.json.decode(b"[" + data.rstrip(b", \t\r\n") + b"]", type=list[msgspec.Raw])
        return msgspec.json.decode(literals[position])
    except IndexError:
        return None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        items = every_item(data.decode("utf-8", "replace"), _decode)
    return items[position] if position < len(items) and items[position] is not BAD else None


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _clean(each) for key, each in value.items()}
    return [_clean(each) for each in value] if isinstance(value, list) else value
