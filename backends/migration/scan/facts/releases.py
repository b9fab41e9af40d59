"""Which versions of torch have a torch_npu: each release requires exactly one version of torch."""

from __future__ import annotations

import re

# Versions of torch with a torch_npu on the package index (pip index versions torch-npu, November 2026).
RELEASES = (
    "2.1.0", "2.3.1", "2.4.0", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.0", "2.9.1", "2.10.0", "2.11.0", "2.12.0",
    "2.13.0", "2.14.0",
)  # fmt: skip
_CLAUSE = re.compile(r"(?<![!=<>~^])(===?|~=|\^|~|<=|>=|<|>|=)\s*v?(\d{1,4}(?:\.\d{1,6}){0,4})(\.\*)?")


def matching_releases(requirement: str) -> tuple[str, ...]:
    """The versions of torch with a torch_npu that a requirement such as ">=2.1,<2.6" allows; "" allows all.

    Of pip, conda ("=2.1") and poetry ("^2.1"); exclusions and what is not understood allow all.
    """
    clauses = [(sign, _numbers(version), bool(star)) for sign, version, star in _CLAUSE.findall(requirement)]
    return tuple(release for release in RELEASES if all(_allows(*clause, _numbers(release)) for clause in clauses))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _allows(sign: str, version: tuple[int, ...], is_prefix: bool, release: tuple[int, ...]) -> bool:
    padded = (*version, 0, 0)[:3]
    if sign in ("==", "==="):
        return release[: len(version)] == version if is_prefix else release == padded
    if sign == "=":
        return release[: len(version)] == version
    if sign in ("~=", "~", "^"):
        prefix = 1 if sign == "^" or len(version) < 3 else 2
        return release >= padded and release[:prefix] == padded[:prefix]
    comparisons = {"<": release < padded, "<=": release <= padded, ">": release > padded, ">=": release >= padded}
    return comparisons[sign]
