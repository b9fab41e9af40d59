"""The pages for developers: what they name is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from studio.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
OUTSIDE = ("http:", "https:", "#", "mailto:")
PATH = re.compile(r"`((?:studio|ui|backends|assets|tests|docs)/[\w./*-]*\w/?)`")
EXAMPLES = ("backends/<", "ui/<")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_that_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    inside = [link.partition("#")[0] for link in links if not link.startswith(OUTSIDE)]
    assert not [link for link in inside if link and not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_that_paths_in_the_text_exist(page: Path) -> None:
    paths = PATH.findall(page.read_text(encoding="utf-8"))
    assert not [path for path in paths if not list(ROOT.glob(path.rstrip("/")))]


def test_that_the_ways_in_the_design_name_modules_that_exist() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    diagrams = "\n".join(re.findall(r"```mermaid(.*?)```", text, re.DOTALL))
    files = re.findall(r"((?:studio|ui|backends)/[\w/]+\.py)", diagrams)
    assert files
    assert not [file for file in files if not (ROOT / file).is_file()]
