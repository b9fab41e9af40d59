"""The help pages in the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl

from studio.paths import ASSETS

if TYPE_CHECKING:
    from ui.shell.window import Shell


def test_that_help_shows_the_same_page_in_the_other_language(shell: Shell) -> None:
    page = shell.page_widget("help")
    page.list.setCurrentRow(1)
    assert "--accumulate" in page.text.toPlainText()
    english = page.text.toPlainText()
    shell.use_language("zh")
    assert page.list.currentRow() == 1
    assert "梯度累积" in page.text.toPlainText()
    assert page.text.toPlainText() != english


def test_that_chinese_help_has_no_spaces_where_its_lines_were_broken(shell: Shell) -> None:
    shell.use_language("zh")
    page = shell.page_widget("help")
    for row in range(page.list.count()):
        page.list.setCurrentRow(row)
        assert "， " not in page.text.toPlainText()


def test_that_a_link_between_help_pages_stays_in_the_window(shell: Shell) -> None:
    page = shell.page_widget("help")
    page.text.anchorClicked.emit(QUrl("3-curves.md"))
    assert page.list.item(page.list.currentRow()).text() == "Reading the curves"


def test_that_both_languages_have_the_same_help_pages() -> None:
    pages = [sorted(path.name for path in (ASSETS / "help" / language).iterdir()) for language in ("en", "zh")]
    assert pages[0] == pages[1]
