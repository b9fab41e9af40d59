"""The GPU stack in one shell command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.migration.scan.files import gpu_names, install_commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.files.scanned_text import ScannedText
    from backends.migration.scan.files.shell_lexer import ShellCommand, ShellWord

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
OPTION = re.compile(r"(--?[A-Za-z][\w.-]*)(?:=|\Z)")
OVERRIDE = re.compile(r"(?:\+{0,2}|~)([A-Za-z_][\w.@/-]*)=")
DEFAULT = re.compile(r"\$\{(\w+):?[-=+]([^{}$]*)\}")
_PREFIXES = "if then else elif do while until ! time exec sudo nohup env command { builtin nice watch timeout xargs"
_NOT_TRAINING = (
    "[ [[ test rm cp mv ln ls cd mkdir touch cat tar unzip grep egrep rg sed awk git conda mamba module ml apt"
)
PREFIXES = frozenset(_PREFIXES.split())
PRINTING = frozenset(
    {"echo", "printf", ":", "log", "info", "warn", "error", "die", "fail", "message", "tput", "figlet"}
)
MONITORS = frozenset({"nvidia-smi", "nvtop", "gpustat", "nvitop", "dcgmi", "nvidia-smi.exe"})
PROFILERS = frozenset({"nsys", "ncu", "nvprof", "nsight-sys", "nv-nsight-cu-cli"})
TOOLS = frozenset(
    {"nvcc", "cuda-memcheck", "compute-sanitizer", "cuda-gdb", "cuobjdump", "nvidia-docker", "nvidia-ctk"}
)
MPS = re.compile(r"nvidia-(?:cuda-mps-\w+|persistenced|modprobe|container-\w+|docker)\Z")
CONTAINERS = frozenset({"docker", "podman", "nvidia-docker", "nerdctl", "docker-compose"})
SANDBOXES = frozenset({"singularity", "apptainer"})
SCHEDULERS = frozenset({"srun", "sbatch", "salloc", "qsub", "bsub", "qlogin"})
SCHEDULED = re.compile(
    r"--?(?:gres(?:-flags)?[= ]\S*gpu\S*|gpus(?:-per-(?:node|task|socket))?[= ]\S+|gpu-\w+[= ]\S+|mem-per-gpu[= ]\S+"
    r"|cpus-per-gpu[= ]\S+|ntasks-per-gpu[= ]\S+|l[= ]\S*gpus?=?\S*|gpu[= ]\S+|G[= ]?\d\S*"
    r"|(?:p|partition|constraint|C|q|queue)[= ]\S*(?:gpu|a100|h100|h800|v100)\S*)",
    re.IGNORECASE,
)
NOT_TRAINING = frozenset(_NOT_TRAINING.split())
NAMING = re.compile(r"-[nortefkm]\Z|--?(?:\w+[-_])?(?:name|output|tag|title|project|dir|group|id|env|notes|message)\Z")
COMPARISONS = frozenset({"=", "==", "!=", "=~"})


@dataclass(frozen=True, kw_only=True)
class CommandScanner:
    """`category`: shell_cuda, or docker_cuda in a Dockerfile."""

    source: ScannedText
    category: str = "shell_cuda"

    def scan_command(self, command: ShellCommand) -> Iterator[Occurrence]:
        words = command.words
        start = self._name_index(words)
        name = command_name(words[start]) if start < len(words) else ""
        is_printing = name in PRINTING and command.after != "|" and not command.target
        if is_printing:
            return
        yield from self._scan_name(words, start, name, command.after)
        packages = yield from install_commands.scan_install_command(self.source, words[start:], self.category)
        for position, word in enumerate(words):
            yield from self._scan_variables(word)
            if word.begin not in packages:
                yield from self._scan_word(words, position, start)

    def _name_index(self, words: list[ShellWord]) -> int:
        """Return the index of the command's name, after assignments, `sudo`, `env` and their like."""
        at = 0
        while at < len(words) and (words[at].value in PREFIXES or ASSIGNMENT.match(words[at].value)):
            at += 1
            while at < len(words) and words[at - 1].value in PREFIXES and words[at].value.startswith("-"):
                at += 1
        return at

    def _scan_name(self, words: list[ShellWord], start: int, name: str, after: str) -> Iterator[Occurrence]:
        for position in range(start, len(words)):
            yield from self._scan_tool(words, position, position == start)
        if name in ("module", "ml"):
            for word in words[start + 1 :]:
                if re.match(r"(?:.*/)?(?:cuda|cudnn|nccl|nvhpc|cudatoolkit|cuda-toolkit)", word.value, re.IGNORECASE):
                    yield self._word_occurrence(word, self.category, name=word.value, context="module")
        if name in CONTAINERS:
            yield from self._scan_container(words[start + 1 :])
        if name in SANDBOXES:
            yield from (
                self._word_occurrence(word, self.category, name="--nv", context="container")
                for word in words[start + 1 :]
                if word.value == "--nv"
            )
        if name == "yolo":
            yield from (
                self._word_occurrence(word, "lib_ultralytics", name=word.value, context="override")
                for word in words[start + 1 :]
                if re.match(r"device=\d", word.value)
            )
        if name in SCHEDULERS:
            yield from self._scan_scheduler_options(words[start + 1 :])
        if len(words) == 1 and after == ")" and gpu_names.DEVICE.match(name):
            yield self._word_occurrence(words[0], self.category, name=name, context="compare")

    def _scan_tool(self, words: list[ShellWord], position: int, is_first: bool) -> Iterator[Occurrence]:
        name = command_name(words[position])
        if name in MONITORS:
            yield self._word_occurrence(words[position], "nvidia_smi", name=name, context="command")
        elif is_first and name in PROFILERS:
            yield self._word_occurrence(words[position], "profiler_cuda", name=name, context="command")
        elif is_first and (name in TOOLS or MPS.match(name)):
            yield self._word_occurrence(words[position], self.category, name=name, context="command")

    def _scan_container(self, words: list[ShellWord]) -> Iterator[Occurrence]:
        for position, word in enumerate(words):
            previous = words[position - 1].value if position else ""
            if re.match(r"--gpus(?:=|\Z)", word.value) or word.value == "--runtime=nvidia":
                yield self._word_occurrence(word, self.category, name=word.value, context="container")
            elif word.value == "nvidia" and previous == "--runtime":
                yield self._word_occurrence(word, self.category, name="--runtime=nvidia", context="container")
            elif re.match(r"(?:--device=)?/dev/nvidia", word.value):
                yield self._word_occurrence(word, self.category, name=word.value, context="container")
            elif gpu_names.IMAGE.match(word.value) and not gpu_names.CUDA_IMAGE.search(word.value):
                yield self._word_occurrence(word, "docker_cuda", name=word.value, context="image")

    def _scan_scheduler_options(self, words: list[ShellWord]) -> Iterator[Occurrence]:
        for position, word in enumerate(words):
            following = words[position + 1].value if position + 1 < len(words) else ""
            request = SCHEDULED.match(word.value if "=" in word.value else f"{word.value} {following}")
            if request and word.value.startswith("-"):
                yield scheduler_request(self.source, word.begin, word.end, request[0], self.category)

    def _scan_variables(self, word: ShellWord) -> Iterator[Occurrence]:
        assigned = gpu_names.ASSIGNED.match(word.value)
        if assigned:
            yield self._variable_occurrence(word, assigned.span(1), assigned[1], {"value": assigned[2]})
        elif gpu_names.ENVIRONMENT.match(word.value):
            yield self._variable_occurrence(word, (0, len(word.value)), word.value, {})
        for expansion in gpu_names.EXPANDED.finditer(word.value):
            yield self._variable_occurrence(word, expansion.span(1), expansion[1], {"expanded": True})

    def _variable_occurrence(
        self, word: ShellWord, span: tuple[int, int], name: str, args: dict[str, object]
    ) -> Occurrence:
        begin, end = word.span(*span)
        return self.source.occurrence(begin, end, "cuda_env", name=name, context="env", args=args)

    def _scan_word(self, words: list[ShellWord], position: int, start: int) -> Iterator[Occurrence]:
        """Device names, backends, indexes and paths of the toolkit in one word."""
        word = words[position]
        yield from self._scan_value(words, position, start)
        if category := flag_category(word.value):
            yield self._word_occurrence(word, category, name=word.value, context="flag")
        for index in gpu_names.INDEX.finditer(word.value):
            yield self._part_occurrence(word, index.span(), "pip_index", index[0], "index")
        for image in gpu_names.CUDA_IMAGE.finditer(word.value):
            yield self._part_occurrence(word, image.span(), "docker_cuda", image[0], "image")
        for path in gpu_names.TOOLKIT_PATH.finditer(word.value):
            yield self._part_occurrence(word, path.span(), self.category, path[0], "path")
        for default in DEFAULT.finditer(word.value):
            context = f"variable:{default[1]}"
            yield from self._device_occurrence(word, default.start(2), default.end(2), context, default[1])

    def _scan_value(self, words: list[ShellWord], position: int, start: int) -> Iterator[Occurrence]:
        word = words[position]
        option, override = OPTION.match(word.value), OVERRIDE.match(word.value)
        assigned = ASSIGNMENT.match(word.value) if position <= start or command_name(words[0]) in EXPORTS else None
        if option and word.value[option.end() - 1] == "=":
            yield from self._device_occurrence(word, option.end(), len(word.value), f"flag:{option[1]}", option[1])
        elif assigned:
            yield from self._device_occurrence(
                word, assigned.end(), len(word.value), f"variable:{assigned[1]}", assigned[1]
            )
        elif override:
            yield from self._device_occurrence(
                word, override.end(), len(word.value), f"override:{override[1]}", override[1]
            )
        elif position and not word.value.startswith("-"):
            yield from self._scan_argument(words, position, start)

    def _scan_argument(self, words: list[ShellWord], position: int, start: int) -> Iterator[Occurrence]:
        word, previous = words[position], words[position - 1]
        following = words[position + 1].value if position + 1 < len(words) else ""
        flag = re.fullmatch(r"--?[A-Za-z][\w.-]*", previous.value)
        if previous.value in COMPARISONS or (following in COMPARISONS and "$" not in word.value):
            pattern = word.value.rstrip("*")
            yield from self._device_occurrence(word, 0, len(pattern), "compare", "")
        elif flag and not NAMING.match(previous.value) and command_name(words[start]) not in NOT_TRAINING:
            yield from self._device_occurrence(word, 0, len(word.value), f"flag:{previous.value}", previous.value)
        elif position > start and LAUNCHER.match(command_name(words[start])) and not flag:
            yield from self._device_occurrence(word, 0, len(word.value), "argument", "")

    def _device_occurrence(
        self, word: ShellWord, first: int, last: int, context: str, key: str
    ) -> Iterator[Occurrence]:
        """`cuda`, `cuda:0`, `nccl`, `gpu` for a device, or a CUDA attention, as the whole of value[first:last]."""
        text = word.value[first:last]
        category = value_category(text, key, self.category)
        if category:
            yield self._part_occurrence(word, (first, last), category, text, context)

    def _part_occurrence(
        self, word: ShellWord, span: tuple[int, int], category: str, name: str, context: str
    ) -> Occurrence:
        begin, end = word.span(*span)
        return self.source.occurrence(begin, end, category, name=name, context=context)

    def _word_occurrence(self, word: ShellWord, category: str, *, name: str, context: str) -> Occurrence:
        return self.source.occurrence(word.begin, word.end, category, name=name, context=context)


BARE_FLAGS = {
    "__enable_xformers_memory_efficient_attention": "xformers",
    "__xformers": "xformers",
    "__load_in_4bit": "bitsandbytes",
    "__load_in_8bit": "bitsandbytes",
    "__use_8bit_adam": "bitsandbytes",
}
"""Flags of trainings by transformers and diffusers that ask for a library of CUDA, with "_" for "-"."""
FLASH_FLAG = re.compile(r"__(?:use_|enable_|with_)?flash_att(?:entio)?n(?:_?v?[23])?\Z", re.IGNORECASE)
"""Flags of Megatron, LLaVA and others that ask for flash_attn, likewise."""
EXPORTS = frozenset({"export", "declare", "local", "readonly", "typeset", "setenv"})
LAUNCHER = re.compile(
    r"(?:python|pypy)[\d.]*\Z|(?:torchrun|accelerate|deepspeed|srun|mpirun|mpiexec|horovodrun|bash|sh|uv|poetry|for|select)\Z"
    r"|.*\.(?:sh|py)\Z|\$",
)
"""Commands whose bare argument `cuda` is a device; elsewhere it is a folder, a package or a word to look for."""


def flag_category(word: str) -> str | None:
    """Return the category of a flag that asks for CUDA by itself, None for any other word."""
    flag = word.replace("-", "_")
    if library := BARE_FLAGS.get(flag):
        return f"lib_{library}"
    return "attn_impl" if FLASH_FLAG.match(flag) else None


def command_name(word: ShellWord) -> str:
    """A command's name without its folders."""
    return word.value.strip("()").rsplit("/", 1)[-1]


def value_category(text: str, key: str, category: str) -> str | None:
    """Return the category of a value by itself and by the name it is assigned to; None where it means no GPU.

    In capitals it is a word of a text unless the name says that it is a device or a backend.
    """
    low, name = text.lower(), key.lstrip("-").replace("-", "_")
    device, backend = gpu_names.DEVICE_KEY.match(name), gpu_names.BACKEND_KEY.match(name)
    if gpu_names.DEVICE.match(low if device else text) or (device and gpu_names.GPU.match(text)):
        return category
    if gpu_names.BACKEND.match(low if backend else text):
        return "nccl_str"
    if gpu_names.BITSANDBYTES_OPTIMIZER.fullmatch(text) or (name == "quantization_bit" and text in ("4", "8")):
        return "lib_bitsandbytes"
    if gpu_names.ATTENTION_NAME.match(text) or (gpu_names.ATTENTION.match(text) and gpu_names.ATTENTION_KEY.match(key)):
        return "attn_impl"
    return None


def scheduler_request(source: ScannedText, begin: int, end: int, request: str, category: str) -> Occurrence:
    """A request for GPUs to Slurm, PBS or LSF: the cluster decides what its NPUs are called."""
    return source.occurrence(begin, end, category, name=request, context="scheduler", kind="need")
