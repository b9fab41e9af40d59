"""`python -m tests.launch.record_parsers SITE`: asks the real parsers, which lie in the folder SITE, about the scripts
in tests/recorded/option_parsers, and keeps beside them what they say. The tests then need none of these libraries.

The scripts leave in `found` what their parser gave."""

from __future__ import annotations

import argparse
import contextlib
import enum
import importlib.metadata
import io
import json
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent.parent / "recorded" / "option_parsers"
DISTRIBUTIONS = {"huggingface": "transformers", "simple_parsing": "simple-parsing", "tyro": "tyro"}
ROOT = Path(__file__).parent.parent.parent


# In a child: the real parser


def answer(script: str, lines: list[list[str]]) -> dict[str, Any]:
    """What the parser of a script declares, and what it gives for each line: a text with "!" first where it refuses."""
    declared: list[dict[str, Any]] = []
    real = argparse.ArgumentParser.parse_known_args

    def parse(self: argparse.ArgumentParser, *given: Any, **words: Any) -> Any:
        if not declared and "tyro" not in script:
            declared.extend(map(_declared, self._actions))
        return real(self, *given, **words)

    argparse.ArgumentParser.parse_known_args = parse  # type: ignore[assignment, method-assign]
    if "tyro" in script:
        _watch_tyro(declared)
    return {"lines": [_gives(script, line) for line in lines], "options": declared}


def _watch_tyro(declared: list[dict[str, Any]]) -> None:
    import tyro  # type: ignore[import-not-found]

    real = tyro.cli

    def cli(function: Any, **words: Any) -> Any:
        if not declared:
            kept = {name: words[name] for name in ("default", "use_underscores", "config") if name in words}
            declared.extend(map(_declared, tyro.extras.get_parser(function, **kept)._actions))
        return real(function, **words)

    tyro.cli = cli


def _declared(action: argparse.Action) -> dict[str, Any]:
    said = re.search(r"\((?:default: (.*)|required|fixed.*)\)$", action.help or "")
    default = said[1] if said and "MISSING" in repr(action.default) else _text(action.default)
    return {
        "names": list(action.option_strings) or [action.dest.rpartition(".")[2]],
        "required": bool(action.required),
        "default": None if default == "None" else default,
        "choices": sorted(map(str, action.choices)) if action.choices else None,
    }


def _text(value: Any) -> str | None:
    if isinstance(value, enum.Enum):
        value = value.value
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else None if value is None else str(value)


def _gives(script: str, line: list[str]) -> str:
    sys.argv, out = [script, *line], io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            return repr(runpy.run_path(script, run_name="__main__").get("found"))
    except (SystemExit, Exception) as error:
        return f"! {type(error).__name__}: {error} {out.getvalue()[-300:]}"


# Here: what we make of it


def run_parser(script: Path, lines: list[list[str]], site: Path) -> dict[str, Any]:
    code = "import json, sys; from tests.launch.record_parsers import answer; sys.path.insert(0, sys.argv[1])\n"
    code += "json.dump(answer(sys.argv[2], json.load(sys.stdin)), sys.__stdout__)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(site), str(script)], input=json.dumps(lines), capture_output=True, text=True,
        check=True, timeout=300, cwd=ROOT,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def record(script: Path, site: Path) -> dict[str, Any]:
    """`written`: values of a form, the words that we make of them and what those give; `spelled`: other words, and
    what we read in them."""
    from backends.launch.own.options.reader import parse_words, read_script_options, to_words
    from backends.launch.own.options.words import key_of

    found = read_script_options(script).options
    needed = {key_of(one): sample(one) for one in found if one.required and not one.command and not one.choices}
    written: list[dict[str, Any]] = []
    spelled: list[dict[str, Any]] = []
    for one in found:
        values = dict(needed)
        if one.command:
            values["command"] = one.command
            values |= {key_of(each): sample(each) for each in found if each.command == one.command and each.required}
        more = {**values, key_of(one): sample(one)}
        more |= {key_of(each): sample(each) for each in found if each.required and not each.command and each.choices
                 and key_of(each) not in more}  # fmt: skip
        written.append({"values": more, "words": list(to_words(found, more))})
        rest = {key: value for key, value in more.items() if key != key_of(one)}
        spelled += [{"words": [*to_words(found, rest), *words]} for words in spellings(one)]
    for each in spelled:
        values, left = parse_words(found, each["words"])
        assert not left, (script, each, left)
        each["values"], each["same"] = values, list(to_words(found, values))
    lines = [each["words"] for each in (*written, *spelled)] + [each["same"] for each in spelled]
    said = run_parser(script, lines, site)
    for each, gives in zip((*written, *spelled), said["lines"], strict=False):
        each["gives"] = gives
    for each, same in zip(spelled, said["lines"][len(written) + len(spelled) :], strict=True):
        assert each["gives"] == same, (script, each, same)
        del each["same"]
    assert not [each for each in (*written, *spelled) if each["gives"].startswith("!")], (script, written, spelled)
    return {"options": said["options"], "written": written, "spelled": spelled}


def sample(option: Any) -> Any:
    """A value other than the default."""
    if option.kind == "bool":
        return option.default is not True
    other = next((choice for choice in option.choices if choice != option.default), "7")
    return tuple([other] * (option.words or 2)) if option.kind == "list" else other


def spellings(option: Any) -> list[list[str]]:
    """Each other name, the ways to turn it off, and the flag without a value where it may stand alone."""
    made = [[name] for name in option.offs]
    value = sample(option)
    if option.kind == "bool":
        value = option.yes if value else option.no
    for name in option.names:
        if option.form in ("on", "off", "both", "maybe"):
            made.append([name])
        if name != option.flag and option.form not in ("on", "off", "both"):
            made.append([name, *(value if isinstance(value, tuple) else (value,))])
    return made


def main(site: Path) -> None:
    sys.path.insert(0, str(site))
    for folder, distribution in DISTRIBUTIONS.items():
        scripts = sorted((RECORDED / folder).glob("*.py"))
        cases = {script.stem: record(script, site) for script in scripts}
        versions = {name.metadata["Name"]: name.version for name in importlib.metadata.distributions(path=[str(site)])}
        recorded = {"version": f"{distribution} {versions[distribution]}", "cases": cases}
        path = RECORDED / f"{folder}.json"
        path.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        count = sum(len(case["written"]) + len(case["spelled"]) for case in cases.values())
        print(f"{recorded['version']}: {len(cases)} scripts, {count} lines")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
