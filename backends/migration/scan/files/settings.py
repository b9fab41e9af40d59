"""What one value of a configuration file says to the GPU stack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import commands, names, requirement, shell
from backends.migration.scan.python.categories import category_of
from backends.migration.scan.python.libraries import library_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.files.source import Source
    from backends.migration.scan.files.value import Value

QUIET = re.compile(
    r"(?:description|desc|help|title|summary|keywords|classifiers|author|authors|maintainers?|comment|_comment|note|notes"
    r"|label|labels|message|msg|text|content|prompt|instruction|question|answer|caption|doc|docs|doc_?string|url_?name|tags?"
    r"|topics|run_name|exp_name|experiment_?name|project_?name|output_dir|license|readme|hint|tooltip|metavar|abstract"
    r"|if|uses|runs-on|concurrency|group|patternrepositories|trustees_override|paths|branches|reviewers|needs|markers"
    r"|extend-exclude|exclude|per-file-ignores|filterwarnings|name)\Z",
    re.IGNORECASE,
)
LABELS = frozenset({"labels", "matchLabels", "annotations"})  # of Kubernetes and Docker
COMMAND = re.compile(
    r"(?:run|script|before_script|after_script|command|commands|cmd|entrypoint|args|sh|shell_command|setup|launch|exec|test"
    r"|entrypoints?|install|start|bash|shell|before_install)\Z",
    re.IGNORECASE,
)
COMMANDING = re.compile(
    r"\s*(?:sudo\s+)?(?:python[\d.]*|torchrun|accelerate|deepspeed|bash|sh|mpirun|srun|sbatch|docker|nvidia-smi|pip[\d.]*"
    r"|conda|export|[A-Z][A-Z0-9_]+=\S*)\s+\S"
)
IMAGE_KEY = re.compile(r"(?:.*[._-])?(?:image|base_image|container|docker|containers?_image|uri)s?\Z", re.IGNORECASE)
REQUIRED = re.compile(
    r"(?:dependencies|dev-dependencies|optional-dependencies|requires|install_requires|setup_requires|tests_require"
    r"|extras_require|requirements|dependency-groups|pip_packages|conda_packages|constraint-dependencies"
    r"|override-dependencies|requires-dist|extra-build-dependencies|python_packages|additional_dependencies|test-requires)\Z",
    re.IGNORECASE,
)
IMPORTED = re.compile(r"_?(?:target|class_path|class|cls|type|callable|func|import|module|_target_)_?\Z", re.IGNORECASE)
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+\Z")
TRUE = frozenset({"true", "yes", "on", "1"})
ITEM = re.compile(rf"\s*-?\s*({names.VARIABLE})=(\S*)\s*\Z")


def places(source: Source, value: Value, before: Value | None = None) -> Iterator[Place]:
    """Of the value and its own key. `before`: the value in front of it, which may be the flag that it is given to."""
    yield from _environment(source, value)
    key = value.keys[-1] if value.keys else ""
    if any(QUIET.match(part) for part in value.keys[-1:]) or QUIET.match(_list_key(value)):
        return
    if not LABELS.isdisjoint(value.keys):
        return
    if _is_command(source, value, key):
        yield from shell.read(source, value.begin, value.end)
    elif _is_required(value):
        yield from _requirement(source, value)
    else:
        yield from _value(source, value, key, _flag(source, value, before))


def _list_key(value: Value) -> str:
    return value.keys[-2] if len(value.keys) > 1 and value.keys[-2].lower() in ("keywords", "classifiers") else ""


def _context(value: Value) -> str:
    return "key:" + ".".join(value.keys)


def _environment(source: Source, value: Value) -> Iterator[Place]:
    key, text = value.keys[-1] if value.keys else "", source.text[value.begin : value.end]
    if value.key_end > value.key_begin and names.ENVIRONMENT.match(key):
        yield source.place(
            value.key_begin, value.key_end, "cuda_env", name=key, context="env", args={"value": text[:200]}
        )
    elif value.key_end > value.key_begin and key == "nvidia.com/gpu":
        yield source.place(value.key_begin, value.key_end, "docker_cuda", name=key, context="resource")
    elif key == "name" and "env" in value.keys and names.ENVIRONMENT.match(text):
        yield source.place(value.begin, value.end, "cuda_env", name=text, context="env")
    elif item := ITEM.match(text):
        begin, end = value.begin + item.start(1), value.begin + item.end(1)
        yield source.place(begin, end, "cuda_env", name=item[1], context="env", args={"value": item[2]})


def _is_command(source: Source, value: Value, key: str) -> bool:
    text = source.text[value.begin : value.end]
    if value.block:
        return bool(COMMAND.match(key)) or COMMANDING.match(text) is not None
    named = COMMAND.match(key) and (" " in text or text.startswith("-") or text in commands.MONITORS)
    return bool(named) or COMMANDING.match(text) is not None


def _is_required(value: Value) -> bool:
    return any(REQUIRED.match(part) for part in value.keys)


def _requirement(source: Source, value: Value) -> Iterator[Place]:
    """A string of a list of requirements, or a table's entry such as `torch = "^2.1"` (poetry)."""
    yield from requirement.index_places(source, value.begin, value.end)
    listed = value.key_end <= value.key_begin or REQUIRED.match(value.keys[-1]) is not None
    if listed:
        yield from requirement.places(source, value.begin, value.end)
        return
    own = value.keys[-1] != "version"
    package = names.normal(value.keys[-1] if own else value.keys[-2])
    category = names.category_of(package)
    if category:
        asks = source.text[value.begin : value.end]
        begin, end = (value.key_begin, value.key_end) if own else (value.begin, value.end)
        yield source.place(begin, end, category, name=package, context="requirement", args={"asks": asks})
    elif REQUIRED.match(value.keys[-2] if len(value.keys) > 1 else ""):
        yield from requirement.places(source, value.begin, value.end)


def _flag(source: Source, value: Value, before: Value | None) -> str:
    """`--device` in front of the value in a list such as ["--device", "cuda"]."""
    if before is None or value.key_end > value.key_begin or value.keys != before.keys:
        return ""
    flag = source.text[before.begin : before.end]
    return flag if re.fullmatch(r"--?[A-Za-z][\w.-]*", flag) else ""


def _value(source: Source, value: Value, key: str, flag: str) -> Iterator[Place]:
    text = source.text[value.begin : value.end]
    category = commands.value_category(text, flag or key, "config_device") or _special(text, key, value)
    if category is None and DOTTED.match(text):
        category = _imported(text, key)
    if category:
        context = f"flag:{flag}" if flag else _context(value)
        yield source.place(value.begin, value.end, category, name=text, context=context)
        return
    yield from requirement.index_places(source, value.begin, value.end)
    if text.startswith("--") or "=" in text:
        yield from _override(source, value, text)


def _imported(text: str, key: str) -> str | None:
    """The category of a name that the project will import, such as `_target_: apex.optimizers.FusedAdam`."""
    library = library_of(text) if IMPORTED.match(key) else None
    return category_of(text) or (f"lib_{library}" if library else None)


def _special(text: str, key: str, value: Value) -> str | None:
    """Values that mean a GPU only under their own key."""
    low, name = text.lower(), key.lower()
    if name == "distributed_type" and low == "multi_gpu":
        return "config_device"
    if name.startswith("use_flash_attention_") and low in TRUE:
        return "attn_impl"
    if (name in ("runtime", "driver", "default-runtime") and low == "nvidia") or (
        name in ("capabilities", "gpus") and low in ("gpu", "all", "nvidia", "[gpu]") and "services" in value.keys
    ):
        return "docker_cuda"
    if IMAGE_KEY.match(key) and names.IMAGE.match(text):
        return "docker_cuda"
    return None


def _override(source: Source, value: Value, text: str) -> Iterator[Place]:
    """`--device=cuda` or `trainer.accelerator=gpu` as an item of a list."""
    found = re.match(r"(--?[\w.-]+|[\w.@/]+)=(\S+)\Z", text)
    category = commands.value_category(found[2], found[1], "config_device") if found else None
    if found and category:
        begin = value.begin + found.start(2)
        context = f"flag:{found[1]}" if found[1].startswith("-") else f"override:{found[1]}"
        yield source.place(begin, value.end, category, name=found[2], context=context)
