"""Files of settings that a line names: read as text, whatever is in them."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.launch.own.options import config_files
from backends.launch.own.options.config_files import Named, named, read_config
from backends.launch.own.options.reader import parse_words, read_line_options, to_words

YAML = """\
# of a run
model: &m
  name: gpt2   # the model
  flow: {a: 1,
    b: 2}
train:
  lr: 1e-3
  betas: [0.9, 0.99]
  steps:
  - 1
  - 2  # two
  callbacks:
    - type: A
      lr: 1
  note: |
    many: lines
    of: text
  quoted: "a # b"  # c
  last: plain text
    that goes on
api_key: sk-123
'a key': 值 🎉
lr: 1
lr: 2
empty:
---
other: document
"""


def pairs(path: Path, name: str = "--config") -> list[tuple[str, str]]:
    (one,) = named([name, path.name], path.parent)
    found = read_config(one)
    assert found is not None
    assert found.reason is None, str(found.reason)
    return [(setting.key, setting.value) for setting in found.settings]


def test_that_yaml_is_shown_as_the_file_has_it(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(YAML, encoding="utf-8")
    assert pairs(tmp_path / "c.yaml") == [
        ("model.name", "gpt2"), ("model.flow", "{a: 1, …"), ("train.lr", "1e-3"), ("train.betas", "[0.9, 0.99]"),
        ("train.steps", "1, 2"), ("train.callbacks", "type: A …"), ("train.note", "…"), ("train.quoted", '"a # b"'),
        ("train.last", "plain text that goes on"), ("api_key", ""), ("a key", "值 🎉"), ("lr", "2"), ("empty", ""),
    ]  # fmt: skip


def test_that_ini_toml_json_and_assignments_are_read(tmp_path: Path) -> None:
    texts = {
        "a.ini": "top = 1\n; comment\n[train]\nlr: 0.1\nnames = a\n  b\nlr = 0.2\n",
        "a.conf": "\ufefflr = 0.1\r\n# comment\r\nsteps=5\r\n",
        "a.toml": "[train]\nlr = 1e-3\nsizes = [1, 2]\n[train.deep]\non = true\n",
        "a.json": '{"train": {"lr": 0.001, "sizes": [1, 2]}, "none": null, "auth_token": "x", "on": true}',
        "a.py": "_base = 1\nlr = 1e-3\nmodel = dict(type='R', depth=50)\nif lr:\n    steps = 5\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert pairs(tmp_path / "a.ini") == [("top", "1"), ("train.lr", "0.2"), ("train.names", "a b")]
    assert pairs(tmp_path / "a.conf") == [("lr", "0.1"), ("steps", "5")]
    assert pairs(tmp_path / "a.toml") == [("train.lr", "0.001"), ("train.sizes", "[1, 2]"), ("train.deep.on", "true")]
    assert pairs(tmp_path / "a.json") == [
        ("train.lr", "0.001"), ("train.sizes", "[1, 2]"), ("none", "null"), ("auth_token", ""), ("on", "true"),
    ]  # fmt: skip
    assert pairs(tmp_path / "a.py") == [("lr", "0.001"), ("model", "dict(type='R', depth=50)"), ("steps", "5")]


def test_which_words_of_a_line_may_be_configurations(tmp_path: Path) -> None:
    words = (
        "--data",
        "x.json",
        "--amp",
        "a.yaml",
        "--cfg=b.py",
        "conf/c.py",
        "tool.py",
        "--hyp",
        "h.json",
        "-c",
        "q.ini",
    )
    found = [(one.path.name, one.is_sure) for one in named(words, tmp_path)]
    assert found == [("a.yaml", False), ("b.py", True), ("c.py", False), ("h.json", True), ("q.ini", False)]
    assert named(("--config", "a\0.yaml", "-", "--", "=", "--config"), tmp_path) == ()
    assert len(named(tuple(f"{place}.yaml" for place in range(50)), tmp_path)) == config_files.MAX_FILES


@pytest.mark.parametrize(("name", "data", "said"), [
    ("a.yaml", b"\xff\xfe\0b", "UTF-8"), ("a.ini", b"a = 1\0", "UTF-8"), ("a.json", b"[" * 100_000, "read"),
    ("a.json", b'{"a":' * 50_000, "read"), ("a.toml", b"a = " + b"[" * 50_000, "read"),
    ("a.toml", b"a = 1\na = 2", "read"), ("a.py", b"x = " + b"-" * 100_000 + b"1", "Python"),
    ("a.py", b"print 1", "Python"), ("a.yaml", b"", "key = value"),
    ("a.yaml", b"# " + b"x" * (1 << 20), "larger"), ("a.json", b"[1, 2]", "key = value"), ("a.json", b"", "read"),
])  # fmt: skip
def test_that_a_configuration_that_cannot_be_shown_says_why(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    found = read_config(Named(path=path, is_sure=True))
    assert found is not None
    assert found.reason is not None
    assert said in str(found.reason)
    assert read_config(Named(path=path, is_sure=False)) is None


def test_that_a_file_of_100_mb_a_folder_and_a_pipe_are_refused_at_once(tmp_path: Path) -> None:
    with (tmp_path / "large.yaml").open("wb") as file:
        file.truncate(100 << 20)
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    for name in ("large", "folder", "pipe", "gone"):
        found = read_config(Named(path=tmp_path / f"{name}.yaml", is_sure=True))
        assert found is not None
        assert found.reason is not None


def test_that_a_file_of_very_many_settings_is_shown_in_part(tmp_path: Path) -> None:
    (tmp_path / "a.ini").write_text(
        "".join(f"k{place} = {'x' * 400}\n" for place in range(config_files.MAX_SETTINGS + 5))
    )
    found = read_config(Named(path=tmp_path / "a.ini", is_sure=True))
    assert found is not None
    assert (len(found.settings), found.left, len(found.settings[0].value)) == (config_files.MAX_SETTINGS, 5, 301)


PARTS = ("a", ":", " ", "  ", "- ", "|", ">", "{", "}", "[", "]", "=", "\n", "\t", '"', "'", "#", "---", "é", "中",
         "🎉", "&x", "*x", "1", "\r")  # fmt: skip
HOSTILE = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from(PARTS), max_size=30).map(lambda parts: "".join(parts).encode()),
)


@settings(max_examples=400, deadline=None)
@given(data=HOSTILE, suffix=st.sampled_from(sorted(config_files.READERS)), sure=st.booleans())
def test_that_no_file_raises(data: bytes, suffix: str, sure: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        path.write_bytes(data)
        found = read_config(Named(path=path, is_sure=sure))
        assert found is not None or not sure
        assert path.read_bytes() == data
        for setting in found.settings if found else ():
            assert "\n" not in setting.key + setting.value


NAME = st.from_regex(r"[a-z][a-z_0-9]{0,6}", fullmatch=True).filter(
    lambda name: name not in ("y", "n", "on", "off", "yes", "no", "true", "false", "null", "pwd", "auth", "token")
)
PLAIN = st.one_of(
    st.integers(-1000, 1000), st.floats(allow_nan=False, allow_infinity=False), st.booleans(),
    st.from_regex(r"[a-z]{1,8}( [a-z]{1,5})?", fullmatch=True),
)  # fmt: skip
TREE = st.dictionaries(NAME, st.one_of(PLAIN, st.dictionaries(NAME, PLAIN, min_size=1, max_size=3)), max_size=5)


def flat(tree: dict[str, Any], before: str = "") -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in tree.items():
        made |= flat(value, f"{before}{key}.") if isinstance(value, dict) else {before + key: value}
    return made


@settings(max_examples=200, deadline=None)
@given(tree=TREE)
def test_that_what_is_read_is_what_the_usual_libraries_read(tree: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.yaml")
        path.write_text(yaml.safe_dump(tree, sort_keys=False) if tree else "", encoding="utf-8")
        assert {key: yaml.safe_load(value) for key, value in config_files.yaml(path)} == flat(tree)
        path.write_text(json.dumps(tree), encoding="utf-8")
        assert [key for key, _ in config_files.plain_json(path)] == list(flat(tree))
        parser = configparser.RawConfigParser()
        parser.read_dict({key: value if isinstance(value, dict) else {"it": value} for key, value in tree.items()})
        with path.open("w", encoding="utf-8") as file:
            parser.write(file)
        assert config_files.ini(path) == [
            (f"{part}.{key}", parser[part][key]) for part in parser.sections() for key in parser[part]
        ]


# nanoGPT's own, MIT licence: Copyright (c) 2022 Andrej Karpathy
CONFIGURATOR = """
import sys
from ast import literal_eval
for arg in sys.argv[1:]:
    if '=' not in arg:
        assert not arg.startswith('--')
        config_file = arg
        exec(open(config_file).read())
    else:
        assert arg.startswith('--')
        key, val = arg.split('=')
        key = key[2:]
        if key in globals():
            try:
                attempt = literal_eval(val)
            except (SyntaxError, ValueError):
                attempt = val
            assert type(attempt) == type(globals()[key])
            globals()[key] = attempt
        else:
            raise ValueError(f"Unknown config key: {key}")
"""


def test_that_a_file_of_assignments_gives_defaults_as_the_script_itself_takes_them(tmp_path: Path) -> None:
    (tmp_path / "configurator.py").write_text(CONFIGURATOR)
    (tmp_path / "train.py").write_text(
        "out = 'run'\nlr = 6e-4\nsteps = 5 * 8\nhalf = False\nname = 'n'\nwide = 3\n"
        "exec(open('configurator.py').read())\nprint([out, lr, steps, half, name, wide])\n"
    )
    (tmp_path / "a.py").write_text("steps = 7 * 2\nlr = 1e-3\nwide = 2.5\nnew = 1\n")
    (tmp_path / "b.py").write_text("name = out + 'x'\nlr = 1\n")
    arguments = ("a.py", "b.py")
    found = read_line_options(tmp_path / "train.py", arguments, tmp_path)
    one = {option.flag: option for option in found.options}
    assert [(one[flag].default, one[flag].kind) for flag in ("--steps", "--lr", "--wide", "--half")] == [
        ("14", "int"), ("1", "int"), ("2.5", "float"), (False, "bool"),
    ]  # fmt: skip
    assert (one["--name"].default, one["--name"].default_source, one["--out"].path) == (None, "out + 'x'", "")
    assert (one["--steps"].path, one["--name"].path) == (str(tmp_path / "a.py"), str(tmp_path / "b.py"))
    values = parse_words(found.options, arguments)[0]
    values |= {"--steps": "40", "--lr": "2", "--wide": "3", "--half": True, "--out": "o p"}
    words = to_words(found.options, values)
    assert words == ("a.py", "b.py", "--out=o p", "--lr=2", "--steps=40", "--half=True", "--wide=3.0")
    done = subprocess.run(
        [sys.executable, "train.py", *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == "['o p', 2, 40, True, 'runx', 3.0]\n"
    assert to_words(found.options, {**values, "--steps": "14"})[:3] == ("a.py", "b.py", "--out=o p")
    assert "--steps=14" not in to_words(found.options, {**values, "--steps": "14"})


def test_that_a_file_of_assignments_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("lr = 6e-4\nexec(open('configurator.py').read())\n")
    (tmp_path / "bad.py").write_text("lr = (\n")
    found = read_line_options(tmp_path / "train.py", ("gone.py", "bad.py", "--lr=1.0"), tmp_path)
    assert [one.path.name for one in found.configs] == ["gone.py", "bad.py"]
    assert [option.default for option in found.options[1:]] == ["0.0006"]
