"""torch.UntypedStorage for a card: made, resized and measured by the memory that its handle holds."""

from __future__ import annotations

from ascend_studio.virtual_npu import cards, storages

if False:
    from typing import Any

TOO_LARGE = "a storage of an npu of %d bytes cannot grow to %d here: only one that was made so large can"


def install(torch: Any) -> None:
    kind = torch.UntypedStorage
    make, resize, length = kind.__new__, kind.resize_, kind.nbytes

    def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
        device = kwargs.get("device")
        if device is None or str(device).partition(":")[0] != "npu":
            return make(cls, *args, **kwargs)
        del kwargs["device"]
        return storages.new_handle(make(cls, *args, **kwargs), cards.index_of(device))

    def nbytes(self: Any) -> int:
        held = self.__dict__.get("_host")
        return int(length(self) if held is None else length(held))

    def resize_(self: Any, size: int) -> Any:
        held = self.__dict__.get("_host")
        if held is None:
            resize(self, size)
            if "_block" in self.__dict__:
                self._block.resize(size)
            return self
        if size > length(self):
            raise RuntimeError(TOO_LARGE % (length(self), size))
        # The memory stays where it is: torch itself keeps its address.
        whole = self.__dict__.setdefault("_whole", held)
        self._host = whole if size == length(whole) else storages.part_of(whole, size)
        self._flat.clear()
        self._block.resize(size)
        return self

    kind.__new__, kind.nbytes, kind.size, kind.__len__, kind.resize_ = __new__, nbytes, nbytes, nbytes, resize_
