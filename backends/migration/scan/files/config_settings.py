"""The GPU stack in one value of a configuration file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import command_scanner, gpu_names, requirements
from backends.migration.scan.python.categories import api_category
from backends.migration.scan.python.cuda_libraries import cuda_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.files.config_value import ConfigValue
    from backends.migration.scan.files.scanned_text import ScannedText, ShellScanner

DESCRIPTIVE_KEY = re.compile(
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
COMMAND_TEXT = re.compile(
    r"\s*(?:sudo\s+)?(?:python[\d.]*|torchrun|accelerate|deepspeed|bash|sh|mpirun|srun|sbatch|docker|nvidia-smi|pip[\d.]*"
    r"|conda|export|[A-Z][A-Z0-9_]+=\S*)\s+\S"
)
IMAGE_KEY = re.compile(r"(?:.*[._-])?(?:image|base_image|container|docker|containers?_image|uri)s?\Z", re.IGNORECASE)
REQUIREMENTS_KEY = re.compile(
    r"(?:dependencies|dev-dependencies|optional-dependencies|requires|install_requires|setup_requires|tests_require"
    r"|extras_require|requirements|dependency-groups|pip_packages|conda_packages|constraint-dependencies"
    r"|override-dependencies|requires-dist|extra-build-dependencies|python_packages|additional_dependencies|test-requires)\Z",
    re.IGNORECASE,
)
IMPORT_KEY = re.compile(
    r"_?(?:target|class_path|class|cls|type|callable|func|import|module|_target_)_?\Z", re.IGNORECASE
)
DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+\Z")
TRUE = frozenset({"true", "yes", "on", "1"})
GPU_WORD = re.compile(r"(?<![a-z0-9])(?:cuda|nccl|gpu)(?![a-z])", re.IGNORECASE)
ITEM = re.compile(rf"\s*-?\s*({gpu_names.VARIABLE})=(\S*)\s*\Z")


def scan_setting(
    source: ScannedText, value: ConfigValue, scan_shell: ShellScanner, previous: ConfigValue | None = None
) -> Iterator[Occurrence]:
    """Scan a value and its own key. `previous`: the value in front of it, which may be the flag that it belongs to."""
    yield from _scan_environment(source, value)
    key = value.keys[-1] if value.keys else ""
    if any(DESCRIPTIVE_KEY.match(part) for part in value.keys[-1:]) or DESCRIPTIVE_KEY.match(_list_key(value)):
        return
    if not LABELS.isdisjoint(value.keys):
        return
    if _is_command(source, value, key):
        yield from scan_shell(source, value.begin, value.end)
    elif _is_required(value):
        yield from _scan_requirement_value(source, value)
    else:
        yield from _scan_value(source, value, key, _preceding_flag(source, value, previous))


def _list_key(value: ConfigValue) -> str:
    return value.keys[-2] if len(value.keys) > 1 and value.keys[-2].lower() in ("keywords", "classifiers") else ""


def _context(value: ConfigValue) -> str:
    return "key:" + ".".join(value.keys)


def _scan_environment(source: ScannedText, value: ConfigValue) -> Iterator[Occurrence]:
    key, text = value.keys[-1] if value.keys else "", source.text[value.begin : value.end]
    if value.key_end > value.key_begin and gpu_names.ENVIRONMENT.match(key):
        yield source.occurrence(
            value.key_begin, value.key_end, "cuda_env", name=key, context="env", args={"value": text[:200]}
        )
    elif value.key_end > value.key_begin and key == "nvidia.com/gpu":
        yield source.occurrence(value.key_begin, value.key_end, "docker_cuda", name=key, context="resource")
    elif key == "name" and "env" in value.keys and gpu_names.ENVIRONMENT.match(text):
        yield source.occurrence(value.begin, value.end, "cuda_env", name=text, context="env")
    elif item := ITEM.match(text):
        begin, end = value.begin + item.start(1), value.begin + item.end(1)
        yield source.occurrence(begin, end, "cuda_env", name=item[1], context="env", args={"value": item[2]})


def _is_command(source: ScannedText, value: ConfigValue, key: str) -> bool:
    text = source.text[value.begin : value.end]
    if value.block:
        return bool(COMMAND.match(key)) or COMMAND_TEXT.match(text) is not None
    is_command_key = COMMAND.match(key) and (" " in text or text.startswith("-") or text in command_scanner.MONITORS)
    return bool(is_command_key) or COMMAND_TEXT.match(text) is not None


def _is_required(value: ConfigValue) -> bool:
    return any(REQUIREMENTS_KEY.match(part) for part in value.keys)


def _scan_requirement_value(source: ScannedText, value: ConfigValue) -> Iterator[Occurrence]:
    """A string of a list of requirements, or a table's entry such as `torch = "^2.1"` (poetry)."""
    yield from requirements.scan_index_addresses(source, value.begin, value.end)
    is_list_item = value.key_end <= value.key_begin or REQUIREMENTS_KEY.match(value.keys[-1]) is not None
    if is_list_item:
        yield from requirements.scan_requirement(source, value.begin, value.end)
        return
    is_own_key = value.keys[-1] != "version"
    package = gpu_names.normalized_package(value.keys[-1] if is_own_key else value.keys[-2])
    category = gpu_names.package_category(package)
    if category:
        version = source.text[value.begin : value.end]
        begin, end = (value.key_begin, value.key_end) if is_own_key else (value.begin, value.end)
        yield source.occurrence(begin, end, category, name=package, context="requirement", args={"asks": version})
    elif REQUIREMENTS_KEY.match(value.keys[-2] if len(value.keys) > 1 else ""):
        yield from requirements.scan_requirement(source, value.begin, value.end)


def _preceding_flag(source: ScannedText, value: ConfigValue, previous: ConfigValue | None) -> str:
    """`--device` in front of the value in a list such as ["--device", "cuda"]."""
    if previous is None or value.key_end > value.key_begin or value.keys != previous.keys:
        return ""
    flag = source.text[previous.begin : previous.end]
    return flag if re.fullmatch(r"--?[A-Za-z][\w.-]*", flag) else ""


def _scan_value(source: ScannedText, value: ConfigValue, key: str, flag: str) -> Iterator[Occurrence]:
    text = source.text[value.begin : value.end]
    category = (
        command_scanner.value_category(text, flag or key, "config_device")
        or _category_by_key(text, key, value)
        or command_scanner.flag_category(text)
    )
    if category is None and DOTTED.match(text):
        category = _imported_category(text, key)
    if category:
        context = f"flag:{flag}" if flag else _context(value)
        yield source.occurrence(value.begin, value.end, category, name=text, context=context)
        return
    if "${" in text:
        yield from _scan_interpolations(source, value, key)
        yield from _scan_resolvers(source, value, key)
    yield from requirements.scan_index_addresses(source, value.begin, value.end)
    if text.startswith("--") or "=" in text:
        yield from _scan_override(source, value, text)


def _scan_interpolations(source: ScannedText, value: ConfigValue, key: str) -> Iterator[Occurrence]:
    """`${oc.env:DEVICE,cuda}`: the variable, and the value where it is not set."""
    for match in gpu_names.INTERPOLATED.finditer(source.text, value.begin, value.end):
        if gpu_names.ENVIRONMENT.match(match[1]):
            yield source.occurrence(*match.span(1), "cuda_env", name=match[1], context="env")
        fallback = match[2] or ""
        category = command_scanner.value_category(fallback, key, "config_device")
        if category:
            yield source.occurrence(*match.span(2), category, name=fallback, context=_context(value))


def _scan_resolvers(source: ScannedText, value: ConfigValue, key: str) -> Iterator[Occurrence]:
    """`device: ${pick:${gpu}}`: only the project's own resolver, or the environment, knows which device that is."""
    for match in gpu_names.RESOLVED.finditer(source.text, value.begin, value.end):
        resolver, variable = match[1], gpu_names.VARIABLE_ALONE.match(source.text, match.start(), value.end)
        is_own = not resolver.startswith("oc.") and resolver not in gpu_names.HYDRA_RESOLVERS
        arguments = source.text[match.end() : value.end] if is_own else ""
        if (is_own or variable) and _may_name_gpu(key, arguments):
            name, context = variable[1] if variable else resolver, f"unresolved:{'.'.join(value.keys)}"
            yield source.occurrence(value.begin, value.end, "config_device", name=name, context=context)
            return


def _may_name_gpu(key: str, arguments: str) -> bool:
    name = key.replace("-", "_")
    is_of_device = gpu_names.DEVICE_KEY.match(name) or gpu_names.BACKEND_KEY.match(name)
    return bool(is_of_device) or GPU_WORD.search(arguments) is not None


def _imported_category(text: str, key: str) -> str | None:
    """The category of a name that the project will import, such as `_target_: apex.optimizers.FusedAdam`."""
    library = cuda_library(text) if IMPORT_KEY.match(key) else None
    return api_category(text) or (f"lib_{library}" if library else None)


def _category_by_key(text: str, key: str, value: ConfigValue) -> str | None:
    """Values that mean a GPU only under their own key."""
    lowered, name = text.lower(), key.lower()
    if name == "distributed_type" and lowered == "multi_gpu":
        return "config_device"
    if re.match(r"use_flash_att(?:entio)?n(?:_|\Z)", name) and lowered in TRUE:
        return "attn_impl"
    if (name in ("load_in_4bit", "load_in_8bit") and lowered in TRUE) or (
        name in ("quant_method", "quantization_method") and lowered in ("bitsandbytes", "bnb")
    ):
        return "lib_bitsandbytes"
    if "xformers" in name and lowered in TRUE:
        return "lib_xformers"
    if (name in ("runtime", "driver", "default-runtime") and lowered == "nvidia") or (
        name in ("capabilities", "gpus") and lowered in ("gpu", "all", "nvidia", "[gpu]") and "services" in value.keys
    ):
        return "docker_cuda"
    if IMAGE_KEY.match(key) and gpu_names.IMAGE.match(text):
        return "docker_cuda"
    return None


def _scan_override(source: ScannedText, value: ConfigValue, text: str) -> Iterator[Occurrence]:
    """`--device=cuda` or `trainer.accelerator=gpu` as an item of a list."""
    match = re.match(r"(--?[\w.-]+|[\w.@/]+)=(\S+)\Z", text)
    category = command_scanner.value_category(match[2], match[1], "config_device") if match else None
    if match and category:
        begin = value.begin + match.start(2)
        context = f"flag:{match[1]}" if match[1].startswith("-") else f"override:{match[1]}"
        yield source.occurrence(begin, value.end, category, name=match[2], context=context)
