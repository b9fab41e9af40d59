"""The text of a file comes back as its author wrote it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from pathlib import Path

CHINESE = "# 训练脚本：在显卡上运行\nx = '设备'\n"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"x = 1\r\n", "utf-8", "x = 1\r\n"),
        ("é = 1".encode(), "utf-8", "é = 1"),
        (b"\xef\xbb\xbfx = 1", "utf-8-sig", "x = 1"),
        ("x = 1".encode("utf-16"), "utf-16", "x = 1"),
        (CHINESE.encode("gb18030"), "gb18030", CHINESE),
        (b"# -*- coding: gbk -*-\n" + "y='机'".encode("gbk"), "gbk", "# -*- coding: gbk -*-\ny='机'"),
        (b"#!/bin/sh\n# vim: set fileencoding=latin-1 :\n\xe9", "iso8859-1", None),
        (b"x = 'caf\xe9 d\xe9j\xe0 vu'\n", "latin-1", "x = 'café déjà vu'\n"),
        (b"# coding: rot13\nx = 1", "utf-8", "# coding: rot13\nx = 1"),
        (b"# coding: no-such\nx = 1", "utf-8", None),
        (b"# coding: idna\nx = 1", "utf-8", None),
        (b"a\0b", "utf-8", "a\0b"),
        (b"", "utf-8", ""),
    ],
)
def test_that_the_encoding_is_the_one_it_was_written_in(data: bytes, encoding: str, text: str | None) -> None:
    decoded = decode_source(data)
    assert decoded.encoding == encoding
    assert text is None or decoded.text == text


@given(st.binary(max_size=200))
def test_that_any_bytes_are_a_text_that_gives_them_back(data: bytes) -> None:
    decoded = decode_source(data)
    if decoded.encoding not in ("utf-16", "utf-32"):  # a byte order is chosen anew
        assert decoded.text.encode(decoded.encoding) == data


@given(st.text(st.sampled_from("训练设备显卡分布式计算数据加载模型优化器学习率"), min_size=2, max_size=40))
def test_that_common_chinese_is_read_as_gb18030(text: str) -> None:
    data = f"x = '{text}'\n".encode("gb18030")
    assume(not _is_utf8(data))
    assert decode_source(data).text == f"x = '{text}'\n"


def _is_utf8(data: bytes) -> bool:
    try:
        return bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def test_that_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1234")
    assert read_regular_file(tmp_path / "x", 4) == b"1234"
    with pytest.raises(UnreadableFile) as refused:
        read_regular_file(tmp_path / "x", 3)
    assert refused.value.key == "migration.note.too_large"


def test_that_a_pipe_that_nobody_writes_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableFile) as refused:
        read_regular_file(tmp_path / "pipe", 10)
    assert refused.value.key == "migration.note.no_file"


@pytest.mark.parametrize("name", ["gone", "folder", "nul\0", "link"])
def test_that_what_cannot_be_read_says_why(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with pytest.raises(UnreadableFile):
        read_regular_file(tmp_path / name, 10)
