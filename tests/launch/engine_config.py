"""The engine's options from a line of the studio's own flags. Scripts of tests import this too."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

from backends.launch.engine_options import ASSETS, engine_fields, engine_options
from backends.launch.launchers import ENGINE
from backends.launch.spec import LaunchSpec
from studio import paths, schema

sys.path += [str(folder) for folder in (paths.GUEST, ENGINE) if str(folder) not in sys.path]
from ascend_engine.options import parse

if TYPE_CHECKING:
    from ascend_engine.options import Config

OPTIMIZERS = schema.field_of(LaunchSpec, "optimizer").choices
# What a line does not choose is left out of the training, whatever a recipe would bring along.
PLAIN = "--loss-scale none --weight-decay 0"


def config_of(line: str) -> Config:
    """The engine's Config for a line such as "--recipe linear --batch 8"."""
    return parse(options_text_of(line))


def options_text_of(line: str) -> str:
    """The JSON that the engine reads. Each flag of the line counts, also where the studio would hide its field."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    schema.add_arguments(parser, LaunchSpec, lambda field: field.name)
    parser.add_argument("--assets")
    given = parser.parse_args(shlex.split(f"{PLAIN} {line}"))
    spec, wrong = schema.from_arguments(LaunchSpec, given)
    assert not wrong, wrong
    options = engine_options(spec)
    for field in engine_fields():
        if getattr(given, field.name) is not None:
            _choose(options, field, schema.value_of(spec, field.name))
    if given.assets:
        options["paths"][ASSETS] = given.assets
    return json.dumps(options)


def _choose(options: dict[str, dict[str, Any]], field: schema.Field, value: Any) -> None:
    if field.kind == "path":
        options["paths"][field.name] = str(value)
    elif field.kind == "pairs":
        options["values"][field.name] = [f"{key}={text}" for key, text in value]
    else:
        options["values"][field.name] = value
