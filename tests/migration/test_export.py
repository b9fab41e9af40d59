"""Reports: nothing from a hostile project escapes its cell, string or tag."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.migration.export.csv_table import HEAD
from backends.migration.export.report import render_report
from backends.migration.scan.baseline import changes_since
from backends.migration.scan.file_scan import ScanNote
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.overview import ApiUse
from backends.migration.scan.project_libraries import ProjectLibrary
from tests.migration.finding_examples import finding, overview

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from studio.texts import Language

HOSTILE = "</code></td><script>alert(1)</script>\"'&<!-- \x00\x1b[31m\u202e"


def as_sarif(*findings: ScanFinding, **values: Any) -> dict[str, Any]:
    return dict(json.loads(render_report(findings, overview(*findings, **values), "sarif", "en")))


def rows(*findings: ScanFinding) -> list[dict[str, str]]:
    text = render_report(findings, overview(*findings), "csv", "en").decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


class Page(HTMLParser):
    """The tags of a page in order; every opened tag must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name == "href"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_a_page_is_whole_and_in_its_language(language: Language) -> None:
    findings = (finding(), finding(kind="advice", cell=2), finding(path="b.py", state="none", effort=13))
    library = ProjectLibrary(name="flash_attn", state="manual", rule="lib_flash_attn.used", files=1)
    api = ApiUse(name="torch.add", count=3, a2="yes", a3="yes", a950="unverified", mindspore="mint.add")
    note = ScanNote(path="x.py", key="migration.note.too_large", args={"limit": "4 MB"})
    whole = overview(*findings, libraries=(library,), apis=(api,), notes=(note,), since=changes_since((), findings))
    text = render_report(findings, whole, "html", language).decode("utf-8")
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    assert f'<html lang="{language}">' in text
    assert not re.search(r"\bmigration\.[a-z]+\.|rule_facts\.|\{\w+\}", text)
    assert ("无需处理" in text) == (language == "zh")


def test_that_a_page_loads_nothing_and_runs_nothing() -> None:
    findings = (finding(text=HOSTILE, path=HOSTILE, name=HOSTILE),)
    text = render_report(findings, overview(*findings, folder="/x/" + HOSTILE), "html", "en").decode("utf-8")
    page = Page(text)
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    assert "default-src 'none'" in text
    assert "\u202e" not in text
    assert "\x1b" not in text


@given(st.text(max_size=60), st.text(max_size=60))
def test_that_no_text_of_a_project_becomes_a_tag(text: str, path: str) -> None:
    plain = Page(render_report((finding(),), overview(finding()), "html", "en").decode("utf-8")).tags
    findings = (finding(text=text, path=path or "x", name=text),)
    assert Page(render_report(findings, overview(*findings), "html", "en").decode("utf-8")).tags == plain


@pytest.mark.parametrize("text", ["=1+2", "+x", "-x", "@SUM(A1)", "\t=1", "  =1", "\r=1", "＝1"])
def test_that_a_spreadsheet_calculates_nothing(text: str) -> None:
    (row,) = rows(finding(text=text, path=text))
    assert row["text"].startswith("'")
    assert row["path"].startswith("'")


@given(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=40))
def test_that_every_text_is_one_cell(text: str) -> None:
    (row,) = rows(finding(text=text))
    assert tuple(row) == HEAD
    assert row["text"].removeprefix("'") == text or row["text"] == text


def test_that_sarif_has_the_structure_of_the_standard() -> None:
    """The required properties of SARIF 2.1.0: sections 3.13, 3.14, 3.19, 3.27, 3.28, 3.30, 3.49."""
    findings = (
        finding(line=3, end=4, column=2, end_column=7),
        finding(kind="advice", rule="z.z"),
        finding(state="none"),
    )
    log = as_sarif(*findings, notes=(ScanNote(path="x y.py", key="migration.note.link"),))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    rules = [rule["id"] for rule in driver["rules"]]
    assert driver["name"]
    assert rules == sorted(set(rules))
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["invocations"][0]["executionSuccessful"] is True
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["kind"] == "fail" or result["level"] == "none"
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uriBaseId"] in run["originalUriBaseIds"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 3, "startColumn": 3, "endLine": 4, "endColumn": 8, "snippet": {"text": findings[0].text},
    }  # fmt: skip


def test_that_sarif_names_a_file_by_an_address() -> None:
    log = as_sarif(finding(path="a b/中#1.py"))
    location = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "a%20b/%E4%B8%AD%231.py"


def test_that_a_cell_of_a_notebook_is_no_line_of_its_file() -> None:
    (location,) = as_sarif(finding(path="n.ipynb", cell=4, line=2))["runs"][0]["results"][0]["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "cells/4/line/2"


def test_that_sarif_tells_what_is_new_what_is_gone_and_what_was_decided() -> None:
    findings = (finding(), finding(text="new"))
    marks = fingerprints(findings)
    difference = changes_since((finding(), finding(text="gone")), findings)
    results = as_sarif(*findings, since=difference, suppressed={marks[0]: "fine"})["runs"][0]["results"]
    assert [result["baselineState"] for result in results] == ["unchanged", "new", "absent"]
    assert results[0]["suppressions"] == [{"kind": "external", "justification": "fine"}]
    assert results[1]["partialFingerprints"] == {"ascendStudio/v1": marks[1]}
