"""What one shell command says to the GPU stack."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.migration.scan.files import install, names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.files.source import Source
    from backends.migration.scan.files.words import Command, Word

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
OPTION = re.compile(r"(--?[A-Za-z][\w.-]*)(?:=|\Z)")
OVERRIDE = re.compile(r"(?:\+{0,2}|~)([A-Za-z_][\w.@/-]*)=")
DEFAULT = re.compile(r"\$\{(\w+):?[-=+]([^{}$]*)\}")
_BEFORE = "if then else elif do while until ! time exec sudo nohup env command { builtin nice watch timeout xargs"
_ASIDE = "[ [[ test rm cp mv ln ls cd mkdir touch cat tar unzip grep egrep rg sed awk git conda mamba module ml apt"
BEFORE = frozenset(_BEFORE.split())
SPOKEN = frozenset({"echo", "printf", ":", "log", "info", "warn", "error", "die", "fail", "message", "tput", "figlet"})
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
    r"|cpus-per-gpu[= ]\S+|ntasks-per-gpu[= ]\S+|l[= ]\S*gpus?=?\S*|gpu[= ]\S+)"
)
ASIDE = frozenset(_ASIDE.split())
NAMING = re.compile(r"-[nortefkm]\Z|--?(?:\w+[-_])?(?:name|output|tag|title|project|dir|group|id|env|notes|message)\Z")
COMPARISONS = frozenset({"=", "==", "!=", "=~"})


@dataclass(frozen=True, kw_only=True)
class Reader:
    """`category`: shell_cuda, or docker_cuda in a Dockerfile."""

    source: Source
    category: str = "shell_cuda"

    def places(self, command: Command) -> Iterator[Place]:
        words = command.words
        start = self._start(words)
        named = name_of(words[start]) if start < len(words) else ""
        quiet = named in SPOKEN and command.after != "|" and not command.target
        if quiet:
            return
        yield from self._command(words, start, named, command.after)
        done = yield from install.places(self.source, words[start:], self.category)
        for position, word in enumerate(words):
            yield from self._variables(word)
            if word.begin not in done:
                yield from self._word(words, position, start)

    def _start(self, words: list[Word]) -> int:
        """Where the command's own name stands, behind assignments, `sudo`, `env` and their like."""
        at = 0
        while at < len(words) and (words[at].value in BEFORE or ASSIGNMENT.match(words[at].value)):
            at += 1
            while at < len(words) and words[at - 1].value in BEFORE and words[at].value.startswith("-"):
                at += 1
        return at

    def _command(self, words: list[Word], start: int, named: str, after: str) -> Iterator[Place]:
        for position in range(start, len(words)):
            yield from self._tool(words, position, position == start)
        if named in ("module", "ml"):
            for word in words[start + 1 :]:
                if re.match(r"(?:.*/)?(?:cuda|cudnn|nccl|nvhpc|cudatoolkit|cuda-toolkit)", word.value, re.IGNORECASE):
                    yield self._place(word, self.category, name=word.value, context="module")
        if named in CONTAINERS:
            yield from self._container(words[start + 1 :])
        if named in SANDBOXES:
            yield from (
                self._place(word, self.category, name="--nv", context="container")
                for word in words[start + 1 :]
                if word.value == "--nv"
            )
        if named in SCHEDULERS:
            yield from self._scheduled(words[start + 1 :])
        if len(words) == 1 and after == ")" and names.DEVICE.match(named):
            yield self._place(words[0], self.category, name=named, context="compare")

    def _tool(self, words: list[Word], position: int, first: bool) -> Iterator[Place]:
        named = name_of(words[position])
        if named in MONITORS:
            yield self._place(words[position], "nvidia_smi", name=named, context="command")
        elif first and named in PROFILERS:
            yield self._place(words[position], "profiler_cuda", name=named, context="command")
        elif first and (named in TOOLS or MPS.match(named)):
            yield self._place(words[position], self.category, name=named, context="command")

    def _container(self, words: list[Word]) -> Iterator[Place]:
        for position, word in enumerate(words):
            before = words[position - 1].value if position else ""
            if re.match(r"--gpus(?:=|\Z)", word.value) or word.value == "--runtime=nvidia":
                yield self._place(word, self.category, name=word.value, context="container")
            elif word.value == "nvidia" and before == "--runtime":
                yield self._place(word, self.category, name="--runtime=nvidia", context="container")
            elif re.match(r"(?:--device=)?/dev/nvidia", word.value):
                yield self._place(word, self.category, name=word.value, context="container")
            elif names.IMAGE.match(word.value) and not names.CUDA_IMAGE.search(word.value):
                yield self._place(word, "docker_cuda", name=word.value, context="image")

    def _scheduled(self, words: list[Word]) -> Iterator[Place]:
        for position, word in enumerate(words):
            after = words[position + 1].value if position + 1 < len(words) else ""
            asks = SCHEDULED.match(word.value if "=" in word.value else f"{word.value} {after}")
            if asks and word.value.startswith("-"):
                yield scheduler(self.source, word.begin, word.end, asks[0], self.category)

    def _variables(self, word: Word) -> Iterator[Place]:
        assigned = names.ASSIGNED.match(word.value)
        if assigned:
            yield self._variable(word, assigned.span(1), assigned[1], {"value": assigned[2]})
        elif names.ENVIRONMENT.match(word.value):
            yield self._variable(word, (0, len(word.value)), word.value, {})
        for used in names.EXPANDED.finditer(word.value):
            yield self._variable(word, used.span(1), used[1], {"expanded": True})

    def _variable(self, word: Word, span: tuple[int, int], name: str, args: dict[str, object]) -> Place:
        begin, end = word.span(*span)
        return self.source.place(begin, end, "cuda_env", name=name, context="env", args=args)

    def _word(self, words: list[Word], position: int, start: int) -> Iterator[Place]:
        """Device names, backends, indexes and paths of the toolkit in one word."""
        word = words[position]
        yield from self._value(words, position, start)
        for index in names.INDEX.finditer(word.value):
            yield self._part(word, index.span(), "pip_index", index[0], "index")
        for image in names.CUDA_IMAGE.finditer(word.value):
            yield self._part(word, image.span(), "docker_cuda", image[0], "image")
        for path in names.TOOLKIT_PATH.finditer(word.value):
            yield self._part(word, path.span(), self.category, path[0], "path")
        for default in DEFAULT.finditer(word.value):
            context = f"variable:{default[1]}"
            yield from self._named(word, default.start(2), default.end(2), context, default[1])

    def _value(self, words: list[Word], position: int, start: int) -> Iterator[Place]:
        word = words[position]
        option, override = OPTION.match(word.value), OVERRIDE.match(word.value)
        assigned = ASSIGNMENT.match(word.value) if position <= start or name_of(words[0]) in EXPORTS else None
        if option and word.value[option.end() - 1] == "=":
            yield from self._named(word, option.end(), len(word.value), f"flag:{option[1]}", option[1])
        elif assigned:
            yield from self._named(word, assigned.end(), len(word.value), f"variable:{assigned[1]}", assigned[1])
        elif override:
            yield from self._named(word, override.end(), len(word.value), f"override:{override[1]}", override[1])
        elif position and not word.value.startswith("-"):
            yield from self._argument(words, position, start)

    def _argument(self, words: list[Word], position: int, start: int) -> Iterator[Place]:
        word, before = words[position], words[position - 1]
        after = words[position + 1].value if position + 1 < len(words) else ""
        flag = re.fullmatch(r"--?[A-Za-z][\w.-]*", before.value)
        if before.value in COMPARISONS or (after in COMPARISONS and "$" not in word.value):
            pattern = word.value.rstrip("*")
            yield from self._named(word, 0, len(pattern), "compare", "")
        elif flag and not NAMING.match(before.value) and name_of(words[start]) not in ASIDE:
            yield from self._named(word, 0, len(word.value), f"flag:{before.value}", before.value)
        elif position > start and LAUNCHER.match(name_of(words[start])) and not flag:
            yield from self._named(word, 0, len(word.value), "argument", "")

    def _named(self, word: Word, first: int, last: int, context: str, key: str) -> Iterator[Place]:
        """`cuda`, `cuda:0`, `nccl`, `gpu` for a device, or a CUDA attention, as the whole of value[first:last]."""
        text = word.value[first:last]
        category = value_category(text, key, self.category)
        if category:
            yield self._part(word, (first, last), category, text, context)

    def _part(self, word: Word, span: tuple[int, int], category: str, name: str, context: str) -> Place:
        begin, end = word.span(*span)
        return self.source.place(begin, end, category, name=name, context=context)

    def _place(self, word: Word, category: str, *, name: str, context: str) -> Place:
        return self.source.place(word.begin, word.end, category, name=name, context=context)


EXPORTS = frozenset({"export", "declare", "local", "readonly", "typeset", "setenv"})
LAUNCHER = re.compile(
    r"(?:python|pypy)[\d.]*\Z|(?:torchrun|accelerate|deepspeed|srun|mpirun|mpiexec|horovodrun|bash|sh|uv|poetry|for|select)\Z"
    r"|.*\.(?:sh|py)\Z|\$",
)
"""Commands whose bare argument `cuda` is a device; elsewhere it is a folder, a package or a word to look for."""


def name_of(word: Word) -> str:
    """A command's name without its folders."""
    return word.value.strip("()").rsplit("/", 1)[-1]


def value_category(text: str, key: str, category: str) -> str | None:
    """The category of a value by itself and the name it is given to; None where it says nothing.

    In capitals it is a word of a text unless the name says that it is a device or a backend.
    """
    low, name = text.lower(), key.lstrip("-").replace("-", "_")
    device, backend = names.DEVICE_KEY.match(name), names.BACKEND_KEY.match(name)
    if names.DEVICE.match(low if device else text) or (device and names.GPU.match(text)):
        return category
    if names.BACKEND.match(low if backend else text):
        return "nccl_str"
    if names.ATTENTION_NAME.match(text) or (names.ATTENTION.match(text) and names.ATTENTION_KEY.match(key)):
        return "attn_impl"
    return None


def scheduler(source: Source, begin: int, end: int, asks: str, category: str) -> Place:
    """A request for GPUs to Slurm, PBS or LSF. Advice, since the cluster decides what its NPUs are called."""
    return source.place(begin, end, category, name=asks, context="scheduler", kind="advice")
