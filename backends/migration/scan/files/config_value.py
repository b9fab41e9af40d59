"""One value of a configuration file with its position."""

from __future__ import annotations

from typing import NamedTuple


class ConfigValue(NamedTuple):
    """`keys` lead to it from the top, list positions left out. text[begin:end] is the value without its quotes.

    `key_begin`, `key_end`: its own key, without quotes; equal where it has none (an item of a list). `block`: a
    string over several lines.
    """

    keys: tuple[str, ...]
    begin: int
    end: int
    key_begin: int = 0
    key_end: int = 0
    block: bool = False

    def shifted(self, by: int) -> ConfigValue:
        return ConfigValue(
            self.keys, self.begin + by, self.end + by, self.key_begin + by, self.key_end + by, self.block
        )
