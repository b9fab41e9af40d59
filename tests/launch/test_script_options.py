"""The options of a script, read from its source: against what the real parsers say, and against sources of any kind."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.launch.own.options.option import Option
from backends.launch.own.options.reader import (
    parse_words,
    read_options,
    read_script_options,
    to_words,
)
from tests.launch.record_parsers import RECORDED

if TYPE_CHECKING:
    from backends.launch.own.options.option import Value

ARGPARSE = """
import argparse
from pathlib import Path
MODELS = {"small": 1, "large": 2}
SIZES = [1, 2]
def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("data", metavar="DIR", nargs="?", default="imagenet", help="path to data (default: imagenet)")
    parser.add_argument("-b", "--batch-size", type=int, default=4 * 16, help="rows,   100%% of them")
    parser.add_argument("--lr", default=1e-3, type=float)
    parser.add_argument("--model", choices=sorted(MODELS.keys()), default="small")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--betas", nargs=2, type=float)
    parser.add_argument("--tag", action="append")
    parser.add_argument("--cuda", action="store_true")
    parser.add_argument("--no-shuffle", action="store_false", dest="shuffle")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", nargs="?", const="latest")
    parser.add_argument("--seed", type=int, default=make_seed())
    parser.add_argument("--loud", type=bool, default=True)
    parser.add_argument("-v", action="count", default=0)
    group = parser.add_argument_group("amp")
    group.add_argument("--amp", type=lambda text: text == "true", default=False)
    parser.add_argument("--version", action="version", version="1")
    for name in ("a", "b"):
        parser.add_argument("--" + name)
    parser.set_defaults(lr=0.5)
    return parser.parse_args()
"""


def written(folder: Path, text: str, name: str = "train.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def by_flag(found: tuple[Option, ...]) -> dict[str, Option]:
    return {option.flag: option for option in found}


def test_that_argparse_options_are_read_with_type_default_choices_and_help(tmp_path: Path) -> None:
    found = read_script_options(written(tmp_path, ARGPARSE))
    one = by_flag(found.options)
    assert [*one] == [
        "data", "--batch-size", "--lr", "--model", "--sizes", "--betas", "--tag", "--cuda", "--no-shuffle", "--compile",
        "--out", "--resume", "--seed", "--loud", "-v", "--amp",
    ]  # fmt: skip
    assert (one["data"].kind, one["data"].default, one["data"].help) == ("path", "imagenet", "path to data")
    assert (one["data"].positional, one["data"].required) == (True, False)
    assert one["--batch-size"] == Option(
        flag="--batch-size", names=("-b", "--batch-size"), kind="int", default="64", help="rows, 100% of them", line=9
    )
    assert (one["--lr"].kind, one["--lr"].default) == ("float", "0.5")
    assert (one["--model"].kind, one["--model"].choices) == ("choice", ("large", "small"))
    assert (one["--sizes"].kind, one["--sizes"].default, one["--sizes"].multiple) == ("list", ("1", "2"), True)
    assert (one["--betas"].words, one["--tag"].form, one["-v"].form) == (2, "repeat", "count")
    assert [(one[name].form, one[name].default) for name in ("--cuda", "--no-shuffle", "--compile")] == [
        ("on", False), ("off", True), ("both", True),
    ]  # fmt: skip
    assert (one["--out"].kind, one["--out"].required) == ("path", True)
    assert (one["--seed"].default, one["--seed"].default_source) == (None, "make_seed()")
    assert (one["--loud"].no, one["--amp"].yes) == ("", "true")
    assert found.unread == (27,)


def test_that_the_words_are_understood_by_the_real_parser(tmp_path: Path) -> None:
    """Everything set away from its default, through the script's own argparse."""
    shown = "\nimport json\nprint(json.dumps(vars(get_args()), default=str))"
    script = written(tmp_path, ARGPARSE.replace("make_seed()", "3") + shown)
    values: dict[str, Value] = {
        "data": "d", "--batch-size": "8", "--lr": "-2e-4", "--model": "large", "--sizes": ("3", "-4"),
        "--betas": ("0.9", "0.99"), "--tag": ("a", "-b"), "--cuda": True, "--no-shuffle": False, "--compile": False,
        "--out": "-o", "--resume": True, "--seed": "3", "--loud": False, "-v": "2", "--amp": True,
    }  # fmt: skip
    words = to_words(read_options(script), values)
    done = subprocess.run(
        [sys.executable, str(script), *words], capture_output=True, text=True, check=True, timeout=300
    )
    assert json.loads(done.stdout) == {
        "data": "d", "batch_size": 8, "lr": -2e-4, "model": "large", "sizes": [3, -4], "betas": [0.9, 0.99],
        "tag": ["a", "-b"], "cuda": True, "shuffle": False, "compile": False, "out": "-o", "resume": "latest",
        "seed": 3, "loud": False, "v": 2, "amp": True, "a": None, "b": None,
    }  # fmt: skip
    again, rest = parse_words(read_options(script), words)
    assert rest == ()
    assert again == {name: value for name, value in values.items() if name != "--seed"}  # 3 is its default


def test_that_only_what_differs_is_written_and_the_rest_is_kept(tmp_path: Path) -> None:
    found = read_options(written(tmp_path, ARGPARSE))
    assert to_words(found, {"--batch-size": "64", "--lr": "5e-1", "--cuda": False, "--model": "small"}) == ()
    values, rest = parse_words(found, ["--lr", "0.1", "--unknown", "5", "--", "-x"])
    assert (values, rest) == ({"--lr": "0.1", "data": "-x"}, ("--unknown", "5"))
    assert parse_words(found, ["-b16", "--batch-size=32", "--a"]) == ({"--batch-size": "32"}, ("--a",))


def test_that_subcommands_keep_their_options_apart(tmp_path: Path) -> None:
    found = read_options(written(tmp_path, """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
commands = parser.add_subparsers(dest="mode", required=True)
one = commands.add_parser("train")
one.add_argument("--epochs", type=int, default=1)
one.add_argument("folder")
one = commands.add_parser("eval")
one.add_argument("--epochs", type=int, default=2)
"""))  # fmt: skip
    assert [(option.command, option.flag) for option in found] == [
        ("", "--debug"), ("", "mode"), ("train", "--epochs"), ("train", "folder"), ("eval", "--epochs"),
    ]  # fmt: skip
    assert found[1].choices == ("train", "eval")
    words = ("--debug", "train", "data", "--epochs", "3")
    values, rest = parse_words(found, words)
    assert (values, rest) == ({"--debug": True, "mode": "train", "train folder": "data", "train --epochs": "3"}, ())
    assert to_words(found, values) == words


CLICK = """
import click
@click.command()
@click.argument("source", type=click.Path())
@click.option("--lr", "-l", default=0.1, help="learning rate", show_default=True)
@click.option("--opt", type=click.Choice(["sgd", "adam"]), default="sgd")
@click.option("--shout/--no-shout", default=False)
@click.option("--dry", is_flag=True)
@click.option("--tag", multiple=True)
@click.option("--pair", nargs=2, type=int)
@click.option("--steps", required=True, type=click.IntRange(1))
@click.option("-v", "--verbose", count=True)
def main(**given):
    click.echo(__import__("json").dumps(given))
if __name__ == "__main__":
    main()
"""


def test_that_click_options_are_read_and_written_as_click_reads_them(tmp_path: Path) -> None:
    script = written(tmp_path, CLICK)
    found = by_flag(read_options(script))
    assert (found["source"].kind, found["source"].required) == ("path", True)
    assert (found["--lr"].kind, found["--lr"].help, found["--opt"].choices) == (
        "float",
        "learning rate",
        ("sgd", "adam"),
    )
    values: dict[str, Value] = {
        "source": "s", "--lr": "0.2", "--opt": "adam", "--shout": True, "--dry": True, "--tag": ("a", "b"),
        "--pair": ("1", "2"), "--steps": "5", "--verbose": "2",
    }  # fmt: skip
    words = to_words(read_options(script), values)
    done = subprocess.run(
        [sys.executable, str(script), *words], capture_output=True, text=True, check=True, timeout=300
    )
    assert json.loads(done.stdout) == {
        "source": "s", "lr": 0.2, "opt": "adam", "shout": True, "dry": True, "tag": ["a", "b"], "pair": [1, 2],
        "steps": 5, "verbose": 2,
    }  # fmt: skip
    assert parse_words(read_options(script), words) == (values, ())


def test_that_fields_of_dataclasses_are_options(tmp_path: Path) -> None:
    written(tmp_path, "from dataclasses import dataclass\n@dataclass\nclass Base:\n    seed: int = 1\n", "shared.py")
    found = read_script_options(written(tmp_path, '''
from dataclasses import dataclass, field
from enum import Enum
from typing import List, Literal, Optional
from transformers import HfArgumentParser, TrainingArguments
from shared import Base
class Mode(str, Enum):
    FAST = "fast"
    SLOW = "slow"
@dataclass
class ModelArguments(Base):
    name: Optional[str] = field(default=None, metadata={"help": "the model, " "whole"})
    width: int = field(metadata={"help": "needed"})
    kind: Literal["a", "b"] = "a"
    mode: Mode = Mode.FAST
    tags: List[str] = field(default_factory=list)
    fp16: bool = False  # half precision
    seed: int = 2
parser = HfArgumentParser((ModelArguments, TrainingArguments))
'''))  # fmt: skip
    one = by_flag(found.options)
    assert [*one] == ["--seed", "--name", "--width", "--kind", "--mode", "--tags", "--fp16"]
    assert (one["--name"].help, one["--name"].required, one["--width"].required) == ("the model, whole", False, True)
    assert (one["--kind"].choices, one["--mode"].choices) == (("a", "b"), ("fast", "slow"))
    assert (one["--tags"].kind, one["--fp16"].help, one["--seed"].default) == ("list", "half precision", "2")
    assert found.library_classes == ("TrainingArguments",)
    assert to_words(found.options, {"--fp16": True, "--tags": ("x", "y")}) == ("--tags", "x", "y", "--fp16", "true")


def test_that_tyro_has_dotted_and_hyphened_flags(tmp_path: Path) -> None:
    found = read_options(written(tmp_path, """
import tyro
from dataclasses import dataclass, field
@dataclass
class Optim:
    learning_rate: float = 0.1
    '''How fast.'''
@dataclass
class Config:
    optim: Optim = field(default_factory=Optim)
    use_amp: bool = False
config = tyro.cli(Config)
"""))  # fmt: skip
    assert [(option.flag, option.kind, option.off) for option in found] == [
        ("--use-amp", "bool", "--no-use-amp"), ("--optim.learning-rate", "float", ""),
    ]  # fmt: skip
    assert found[1].help == "How fast."
    assert to_words(found, {"--use-amp": True}) == ("--use-amp",)


def test_that_globals_above_a_configurator_are_options(tmp_path: Path) -> None:
    written(tmp_path, (  # as nanoGPT's checks them: same type, or it refuses
        "import sys\nfrom ast import literal_eval\nfor arg in sys.argv[1:]:\n"
        "    key, val = arg[2:].split('=', 1)\n"
        "    try:\n        attempt = literal_eval(val)\n    except (SyntaxError, ValueError):\n        attempt = val\n"
        "    assert type(attempt) == type(globals()[key]), key\n    globals()[key] = attempt\n"
    ), "configurator.py")  # fmt: skip
    script = written(tmp_path, """
out = 'run' # where it goes
lr = 6e-4
steps = 5 * 8
half = False
_hidden = 1
table = {}
kind = 'a' if half else 'b'
config_keys = [k for k in globals()]
exec(open('configurator.py').read())
print([out, lr, steps, half])
below = 3
""")  # fmt: skip
    found = read_options(script)
    assert [option.flag for option in found] == ["config", "--out", "--lr", "--steps", "--half", "--kind"]
    assert (found[1].help, found[3].default, found[5].default_source) == ("where it goes", "40", "'a' if half else 'b'")
    words = to_words(found, {"--out": "123", "--lr": "1", "--steps": "2", "--half": True})
    assert words == ("--out='123'", "--lr=1.0", "--steps=2", "--half=True")
    done = subprocess.run(
        [sys.executable, str(script), *words], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "['123', 1.0, 2, True]\n", done.stderr
    assert parse_words(found, words)[0] == {"--out": "123", "--lr": "1.0", "--steps": "2", "--half": True}


def test_that_a_parser_in_an_imported_module_is_found_and_an_unused_one_is_not(tmp_path: Path) -> None:
    written(tmp_path, """
import argparse
def get_args():
    return more(argparse.ArgumentParser())
def more(parser):
    parser.add_argument("--of-utils")
def other():
    argparse.ArgumentParser().add_argument("--of-another-script")
if __name__ == "__main__":
    argparse.ArgumentParser().add_argument("--of-utils-itself")
""", "utils.py")  # fmt: skip
    for text in ("from utils import get_args\nget_args()", "import utils as u\nu.get_args()"):
        found = read_options(written(tmp_path, text))
        assert [(option.flag, option.path) for option in found] == [("--of-utils", str(tmp_path / "utils.py"))]


@pytest.mark.parametrize("text", [
    b"print 'of python 2'", b"\xff\xfe\x00binary", b"a\0b", b"# coding: nonsense\nx = 1",
    b"x = " + b"-" * 100_000 + b"1", b"(" * 100_000, b"a" + b".a" * 100_000, b"#" * (3 << 20),
])  # fmt: skip
def test_that_a_source_that_cannot_be_read_says_why(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(text)
    found = read_script_options(path)
    assert (found.options, read_options(path)) == ((), ())
    assert found.reason is not None
    assert "train.py" in str(found.reason)
    assert read_script_options(tmp_path / "gone.py").reason is not None
    assert read_script_options(tmp_path).reason is not None


DATACLASSES = [path.read_text() for path in sorted(RECORDED.glob("*/*.py"))]


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_that_no_mangled_source_raises(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([ARGPARSE, CLICK, "x = 1\nexec(open('configurator.py').read())\n", *DATACLASSES]))
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 40)))
        put = data.draw(st.text(max_size=8) | st.sampled_from(["**x", "*y", "(", "lambda: 0", "\n"]))
        text = text[:begin] + put + text[end:]
    path = tmp_path_factory.getbasetemp() / "mangled.py"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    found = read_script_options(path)
    assert found.reason is None or not found.options
    values, rest = parse_words(found.options, data.draw(st.lists(st.text("-=a1 blr\0", max_size=12), max_size=6)))
    assert isinstance(to_words(found.options, values), tuple)
    assert isinstance(rest, tuple)


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6).filter(
    lambda text: not text.startswith("-")
)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_that_values_come_back_from_their_words(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.getbasetemp() / "whole.py"
    if not path.exists():
        path.write_text(ARGPARSE)
    found = [replace(option, choices=()) for option in read_options(path)]
    values: dict[str, Value] = {}
    for option in data.draw(st.lists(st.sampled_from(found), unique_by=lambda option: option.flag)):
        if option.kind == "bool":
            values[option.flag] = data.draw(st.booleans())
        elif option.kind == "list":
            number = option.words or data.draw(st.integers(1, 3))
            values[option.flag] = tuple(data.draw(st.lists(PLAIN, min_size=number, max_size=number)))
        elif option.form == "count":
            values[option.flag] = str(data.draw(st.integers(1, 5)))
        else:
            values[option.flag] = data.draw(PLAIN)
    words = to_words(found, values)
    again, rest = parse_words(found, words)
    assert rest == ()
    assert to_words(found, again) == words
    assert all(again[flag] == value for flag, value in values.items() if flag in again)


def test_that_a_parser_of_python_itself_is_read_as_its_help_shows_it() -> None:
    from json import tool

    found = read_options(Path(tool.__file__))
    done = subprocess.run([sys.executable, "-m", "json.tool", "--help"], capture_output=True, text=True, timeout=300)
    real = {word.strip("[],") for word in done.stdout.split() if word.strip("[],").startswith("--")} - {"--help"}
    flags = {name for option in found for name in option.names if name.startswith("--")}
    assert len(flags) >= 6
    assert flags <= real
    assert not [name for name in real - flags if not name.startswith("--no-")]


def test_that_names_that_multiply_each_other_are_left_unknown(tmp_path: Path) -> None:
    """Evaluated, these would be 9 to the power of 18 numbers, or a text of 2 to the power of 30 letters."""
    numbers = [f"a{i + 1} = ({f'a{i}, ' * 9})" for i in range(18)]
    words = [f"w{i + 1} = w{i} + w{i}" for i in range(18)]
    head = ["import argparse", "a0 = 1", f"w0 = '{'x' * 4096}'", *numbers, *words, "p = argparse.ArgumentParser()"]
    script = tmp_path / "train.py"
    script.write_text("\n".join([*head, "p.add_argument('--x', default=a18)", "p.add_argument('--w', default=w18)"]))
    assert [(one.flag, one.default, one.default_source) for one in read_options(script)] == [
        ("--x", None, "a18"), ("--w", None, "w18"),
    ]  # fmt: skip


ABSL = """
import json, sys
from absl import app, flags
flags.DEFINE_string("out_dir", "out", "where to write")
flags.DEFINE_integer("steps", 4 * 5, "steps")
flags.DEFINE_float("lr", default=1e-3, help="learning rate")
flags.DEFINE_bool("compile", True, "compile it")
flags.DEFINE_enum("model", "small", ["small", "large"], "size")
flags.DEFINE_multi_string("tag", None, "tags")
NAMES = ("out_dir", "steps", "lr", "compile", "model", "tag")
if __name__ == "__main__":
    flags.FLAGS(sys.argv)
    print(json.dumps({name: flags.FLAGS[name].value for name in NAMES}))
"""


def test_that_flags_of_absl_are_read(tmp_path: Path) -> None:
    options = {option.flag: option for option in read_options(written(tmp_path, ABSL))}
    assert list(options) == ["--out_dir", "--steps", "--lr", "--compile", "--model", "--tag"]
    assert [option.kind for option in options.values()] == ["path", "int", "float", "bool", "choice", "list"]
    assert [option.default for option in options.values()] == ["out", "20", "0.001", True, "small", None]
    assert (options["--model"].choices, options["--lr"].help) == (("small", "large"), "learning rate")


def test_that_words_for_absl_are_what_absl_takes(tmp_path: Path) -> None:
    pytest.importorskip("absl")
    script = written(tmp_path, ABSL)
    values: dict[str, Value] = {
        "--out_dir": "other", "--steps": "7", "--compile": False, "--model": "large", "--tag": ("a", "b"),
    }  # fmt: skip
    words = to_words(read_options(script), values)
    assert parse_words(read_options(script), words) == (values, ())
    out = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, check=True).stdout
    given = {"out_dir": "other", "steps": 7, "lr": 0.001, "compile": False, "model": "large", "tag": ["a", "b"]}
    assert json.loads(out) == given


def test_that_parameters_of_a_function_for_fire_are_options(tmp_path: Path) -> None:
    text = """
import fire
def train(out_dir: str, steps: int = 20, lr=1e-3, compile: bool = False):
    '''Train.

    Args:
        steps: how many
    '''
if __name__ == "__main__":
    fire.Fire(train)
"""
    options = {option.flag: option for option in read_options(written(tmp_path, text))}
    assert list(options) == ["--out_dir", "--steps", "--lr", "--compile"]
    assert [option.kind for option in options.values()] == ["path", "int", "float", "bool"]
    assert [option.required for option in options.values()] == [True, False, False, False]
    assert options["--steps"].help == "how many"
    values: dict[str, Value] = {"--out_dir": "out", "--compile": True}
    words = to_words(tuple(options.values()), values)
    assert words == ("--out_dir", "out", "--compile", "True")
    assert parse_words(tuple(options.values()), words) == (values, ())


def test_that_several_functions_for_fire_are_subcommands(tmp_path: Path) -> None:
    text = """
import fire
def train(lr=0.1): ...
def test(path): ...
fire.Fire({"train": train, "test": test})
"""
    options = read_options(written(tmp_path, text))
    assert [(option.command, option.flag) for option in options] == [
        ("", "command"),
        ("train", "--lr"),
        ("test", "--path"),
    ]
    assert options[0].choices == ("train", "test")
