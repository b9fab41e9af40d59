"""A training as one plain script, put together from the source of the functions that a run uses."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch.engine_options import ASSETS, engine_fields
from backends.launch.script import fold, inline, prune, source_text
from backends.launch.script.fold import FAILURE
from backends.launch.script.modules import ENGINE, PACKAGE, Definition, Indigestible, Module, Program, file_of
from backends.launch.script.survey import ALL_CHOICES, CHOICE, Survey
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 80
PACKAGES = {"mindspore": PACKAGE, "torch": f"{PACKAGE}.pytorch"}
START = "start"
# How often a run's log gets a line, and by whom.
LOGGED = (f"{PACKAGE}.record:Every", f"{PACKAGE}.deferred:DeferredCalls")
OWN = "own_recipe"
BATCHES = f"{PACKAGE}.batches.sequence"
OWN_RECIPE = "own"
OWN_BUILD = "def build(config): return build_own(config), ''"
SAME_BATCH = """
def config_for(data, config):
    if isinstance(data, Batches) and data.batch != config.batch:
        raise Failure("launch.script_own_batch", batch=data.batch)
    return config
"""
"""A script's numbers are written in it; those of a run follow from the data, too."""
KEEPERS = (f"{PACKAGE}.checkpoints.keeper:Keeper", f"{PACKAGE}.pytorch.rank_keeper:RankKeeper")


def config_of(options: str) -> Any:
    """The engine's own Config of a JSON text. options.py needs nothing but Python."""
    name = "_ascend_engine_options"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ENGINE / PACKAGE / "options.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name].parse(options)


def keeps(choices: Any) -> bool:
    """Whether checkpoints were asked for. A run leaves one at its end in any case, a script does not."""
    chosen = (choices.checkpoint_every, choices.checkpoint_minutes)
    return any(choice is not None for choice in chosen) or choices.best != "none"


def script_code(choices: Any) -> str:
    """Everything of the script but what stands above it. Raises Indigestible."""
    program, live = folded(choices)
    names = source_text.final_names(live, program.imports)
    start, live = live[-1], live[:-1]
    used = [name for name in names if name.startswith(CHOICE)]
    more = {"from pathlib import Path"} if any(has_path(value_of(choices, name)) for name in used) else set()
    if ALL_CHOICES in used:
        more.add("from types import SimpleNamespace")
    imports = source_text.import_lines([*live, start], program.imports, more)
    constants = "\n".join(constant(choices, name, names) for name in ordered(used))
    parts = (constants, source_text.text_of(live, names), source_text.text_of([start], names))
    return imports + "\n\n" + "\n\n\n".join(part for part in parts if part) + "\n"


def folded(choices: Any) -> tuple[Program, list[Definition]]:
    """What is left of the engine for these choices."""
    package = PACKAGES[choices.framework]
    program = Program(choices.recipe, package)
    program.files[f"{PACKAGE}.script"] = Path(__file__).with_name("plain.py")
    for name in (f"{PACKAGE}.script", f"{package}.train"):
        program.load(name)
    if choices.recipe == OWN_RECIPE:
        add_own(program, choices.recipe_file)
    add_start(program)
    survey = Survey(choices, LOGGED if keeps(choices) else (*LOGGED, *KEEPERS), absent_types(choices))
    before, live = "", prune.reached(program, START)
    for _ in range(ROUNDS):
        step(survey, live)
        live = prune.reached(program, START)
        after = dump(live)
        if after == before:
            shorten(survey, live)
            live = prune.reached(program, START)
            if dump(live) == before:
                return program, live
        before = after
    raise Indigestible("it changes without an end")


def absent_types(choices: Any) -> tuple[str, ...]:
    """Classes that the code of PyTorch asks for, and of which these choices make no object."""
    users = {
        "!from torch.distributed.tensor import DTensor|DTensor": choices.parallel in ("fsdp", "tensor"),
        "!from torch.distributed.fsdp import FSDPModule|FSDPModule": choices.parallel == "fsdp",
        "!from torch.nn.parallel import DistributedDataParallel|DistributedDataParallel": choices.parallel == "data",
        f"{BATCHES}:Batches": choices.recipe == OWN_RECIPE,
    }
    return tuple(name for name, is_used in users.items() if not is_used)


def dump(live: Sequence[Definition]) -> str:
    return "\n".join(ast.dump(definition.node) for definition in live)


def shorten(survey: Survey, live: list[Definition]) -> None:
    survey.begin(live)
    inlining = inline.Inline(survey, usage_of(survey, live))
    for definition in live:
        inlining.visit_definition(definition)


def add_own(program: Program, file: Path | None) -> None:
    """The user's file as one more module, in place of what would load it."""
    if file is None or not file.is_file():
        raise StudioError("launch.recipe_missing", file=str(file or ""))
    program.files[OWN] = file
    program.load(OWN)
    if f"{OWN}:build" not in program.definitions and not _imports_build(file):
        raise StudioError("launch.recipe_no_build", file=str(file))
    override(program, f"{PACKAGE}.own_recipe:build", OWN_BUILD, {"build_own": f"{OWN}:build"})
    override(program, f"{BATCHES}:config_for", SAME_BATCH, {"Batches": f"{BATCHES}:Batches", "Failure": FAILURE})


def override(program: Program, name: str, source: str, meanings: dict[str, str]) -> None:
    """Another function in place of the engine's. `meanings`: what global names of `source` stand for."""
    (node,) = ast.parse(source).body
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            child.id = meanings.get(child.id, child.id)
    before = program.definitions[name]
    program.definitions[name] = Definition(before.names, node, before.module, before.index)


def _imports_build(file: Path) -> bool:
    tree = ast.parse(file.read_bytes())
    names = (name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for name in node.names)
    return any((name.asname or name.name) in ("build", "*") for name in names)


def add_start(program: Program) -> None:
    """The last lines. Nobody asks a script to stop, so that what an answer to it would be is left out."""
    (node,) = ast.parse('if __name__ == "__main__":\n    sys.exit(train())').body
    assert isinstance(node, ast.If)
    entry = f"{program.package}.train:train"
    call = ast.Call(ast.Name(entry, ast.Load()), [ast.Name(ALL_CHOICES, ast.Load()), ast.Constant(None)], [])
    program.imports["!import sys|sys"] = "import sys"
    leave = ast.Attribute(ast.Name("!import sys|sys", ast.Load()), "exit", ast.Load())
    node.body = [ast.Expr(ast.Call(leave, [call], []))]
    ast.fix_missing_locations(node)
    module = Module(START, [], ast.Module([], []))
    program.order.append(module)
    program.definitions[START] = Definition((START,), node, module, 0)


def step(survey: Survey, live: list[Definition]) -> None:
    survey.begin(live)
    usage = usage_of(survey, live)
    prune.learn(survey, usage)
    prune.narrow(survey, usage)
    folding = fold.Fold(survey)
    for definition in live:
        folding.visit_definition(definition)
    # What the look found used is at least all that still is.
    pruning = prune.Prune(survey, usage)
    for definition in live:
        pruning.visit_definition(definition)


def usage_of(survey: Survey, live: list[Definition]) -> fold.Usage:
    usage = fold.Usage(survey)
    for definition in live:
        usage.visit_definition(definition)
    return usage


def value_of(choices: Any, name: str) -> Any:
    own = name[len(CHOICE) :]
    return choices if own in ("*", "as_dict") else getattr(choices, own)


def has_path(value: Any) -> bool:
    parts = vars(value).values() if hasattr(value, "__dict__") and not isinstance(value, Path) else (value,)
    return any(isinstance(part, Path) for part in parts)


def ordered(names: Sequence[str]) -> list[str]:
    """In the order of the form, what is computed from others behind them."""
    fields = [CHOICE + option for option in field_comments()]
    return sorted(names, key=lambda name: (fields.index(name) if name in fields else len(fields), name))


def constant(choices: Any, name: str, names: dict[str, str]) -> str:
    """A line that names a chosen value, with what the spec says of it."""
    own = name[len(CHOICE) :]
    if own == "*":
        rows = "".join(f"    {key}={plain(value)},\n" for key, value in vars(choices).items())
        return f"{names[name]} = SimpleNamespace(\n{rows})"
    if own == "as_dict":
        rows = "".join(f'    "{key}": {plain(text_of(value))},\n' for key, value in vars(choices).items())
        return f"{names[name]} = {{\n{rows}}}"
    comment = field_comments().get(own, "")
    return f"{names[name]} = {computed(choices, own, names)}" + (f"  {comment}" if comment else "")


def text_of(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def plain(value: Any) -> str:
    if isinstance(value, Path):
        return f"Path({plain(str(value))})"
    text = repr(value)
    return f'"{value}"' if isinstance(value, str) and not set(text) & {'"', "\\"} else text


def computed(choices: Any, own: str, names: dict[str, str]) -> str:
    """A product of other constants stays one, so that it follows where one of them is changed."""
    for statement in config_body():
        if (
            isinstance(statement, ast.FunctionDef)
            and statement.name == own
            and isinstance(statement.body[-1], ast.Return)
        ):
            parts = [node.attr for node in ast.walk(statement.body[-1]) if isinstance(node, ast.Attribute)]
            if isinstance(statement.body[-1].value, ast.BinOp) and isinstance(statement.body[-1].value.op, ast.Mult):
                factors = [names.get(CHOICE + part, plain(getattr(choices, part))) for part in reversed(parts)]
                return " * ".join(factor for factor in factors if factor != "1") or "1"
    return plain(getattr(choices, own))


def config_body() -> list[ast.stmt]:
    tree = ast.parse(file_of(f"{PACKAGE}.options").read_text("utf-8"))
    return next(
        statement.body for statement in tree.body if isinstance(statement, ast.ClassDef) and statement.name == "Config"
    )


def field_comments() -> dict[str, str]:
    """Return, by option of the engine, a comment that says what it is."""
    texts = {field.name: "; ".join(filter(None, (", ".join(field.choices), field.about))) for field in engine_fields()}
    texts[ASSETS] = "the studio's assets folder"
    return {name: f"# {text}" if text else "" for name, text in texts.items()}
