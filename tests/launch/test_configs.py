"""Files of settings: what they say, line by line, without running them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.launch.own.configs import Entry, as_defaults, read
from backends.launch.own.options import parse_words, to_words
from backends.launch.own.options import read as read_options
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "a.py": "import time\nlr = 1e-3 # max\nout = 'out-' + 'x'\nsteps = 5 * 8\nname = str(time.time())\n",
    "a.json": '{"lr": 0.001,\n "model": {"layers": 2,\n "sizes": [1, 2]},\n "half": true}',
    "a.toml": "lr = 1e-3\n[model]\nlayers = 2\nsizes = [1, 2]\n",
    "a.ini": "; first\n[train]\nlr = 1e-3 # max\nname: 'x'\n",
    "a.yaml": "# first\nlr: 1e-3  # max\nmodel:\n  layers: 2\n  kind: 'b'\nlist:\n  - 1\nrun: true\n",
}


def said(folder: Path, name: str, text: str) -> list[tuple[str, object, int]]:
    path = folder / name
    path.write_text(text)
    return [(entry.key, entry.value, entry.line) for entry in read(path)]


def test_that_each_kind_of_file_is_read_with_its_lines(tmp_path: Path) -> None:
    found = {name: said(tmp_path, name, text) for name, text in FILES.items()}
    assert found["a.py"] == [("lr", 0.001, 2), ("out", "out-x", 3), ("steps", 40, 4), ("name", None, 5)]
    assert found["a.json"] == [("lr", 0.001, 1), ("model.layers", 2, 2), ("model.sizes", (1, 2), 3), ("half", True, 4)]
    assert found["a.toml"] == [("lr", 0.001, 1), ("model.layers", 2, 3), ("model.sizes", (1, 2), 4)]
    assert found["a.ini"] == [("train.lr", "1e-3", 3), ("train.name", "x", 4)]
    assert found["a.yaml"] == [("lr", "1e-3", 2), ("model.layers", "2", 4), ("model.kind", "b", 5), ("run", "true", 8)]
    assert read(tmp_path / "a.py")[3] == Entry(key="name", value=None, text="str(time.time())", line=5)


def test_that_a_file_of_settings_gives_the_defaults_that_words_differ_from(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("lr = 1e-4\nsteps = 3\nhalf = False\nexec(open('configurator.py').read())\n")
    (tmp_path / "tiny.py").write_text("lr = 1e-3\nhalf = True\n")
    found = as_defaults(read_options(script), read(tmp_path / "tiny.py"))
    line = ("tiny.py", "--lr=0.0001", "--half=False")
    values, rest = parse_words(found, (*line, "--steps=3"))
    assert rest == ()
    assert to_words(found, values) == line  # the script's own default differs from the file's and is said


def test_that_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    for name, text in (
        ("a.json", "{"),
        ("a.toml", "= 1"),
        ("a.py", "("),
        ("b.json", "[" * 100_000),
        ("c.ini", "x" * (2 << 20)),
    ):
        with pytest.raises(StudioError) as error:
            said(tmp_path, name, text)
        assert name in str(error.value)
    with pytest.raises(StudioError):
        read(tmp_path / "gone.yaml")


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(sorted(FILES)), data=st.data())
def test_that_a_mangled_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    text = FILES[name]
    at = data.draw(st.integers(0, len(text)))
    text = text[:at] + data.draw(st.text(max_size=10)) + text[at + data.draw(st.integers(0, 5)) :]
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        found = read(path)
    except StudioError:
        return
    assert all(isinstance(entry.text, str) and entry.key for entry in found)
