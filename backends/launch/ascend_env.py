"""The environment variables of CANN and HCCL that have fields.

Ranges, units and defaults are those of CANN 9.0's reference of environment variables,
https://www.hiascend.com/document/detail/zh/canncommercial/900/maintenref/envvar/:

    ASCEND_RT_VISIBLE_DEVICES  envref_07_0028  numbers between commas, ascending, nothing else between them
    HCCL_EXEC_TIMEOUT          envref_07_0078  0 to 2147483647 s on Atlas A2 and A3 (0: never), up to 17340 s on the
                                               first Atlas training parts; 1836 s
    HCCL_BUFFSIZE              envref_07_0080  from 1 MB; 200 MB, and each communicator takes it twice
    HCCL_DETERMINISTIC         envref_07_0099  false, true, strict; false
    ASCEND_GLOBAL_LOG_LEVEL    envref_07_0122  0 debug to 3 error, 4 none; 3

HCCL_CONNECT_TIMEOUT, 120 to 7200 s, 120 s: the same reference for CANN 8.3,
.../zh/canncommercial/83RC1/maintenref/envvar/envref_07_0149.html. MS_DEV_LAUNCH_BLOCKING, 0 or 1, 0: read by MindSpore
2.10 (libmindspore_hardware_abstract.so). ASCEND_LAUNCH_BLOCKING is torch_npu's alone; no library of MindSpore has it.

Also torch_npu's, by its 2.13 (libtorch_npu.so) and its reference of environment variables, Envir_012, Envir_007 and
featuresguide_00010 of https://www.hiascend.com/document/detail/zh/Pytorch/710/comref/Envvariables/:

    PYTORCH_NPU_ALLOC_CONF  NAME:VALUE between commas, such as expandable_segments:True
    TASK_QUEUE_ENABLE       0, 1 or 2, what else is refused; 1
    CPU_AFFINITY_CONF       0, 1 or 2, and behind it npuN:FIRST-LAST between commas; 0
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.launch import virtual_npu
from studio import schema
from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.spec import LaunchSpec

NAMES = {
    "visible": "ASCEND_RT_VISIBLE_DEVICES",
    "connect_timeout": "HCCL_CONNECT_TIMEOUT",
    "exec_timeout": "HCCL_EXEC_TIMEOUT",
    "buffsize": "HCCL_BUFFSIZE",
    "deterministic": "HCCL_DETERMINISTIC",
    "launch_blocking": "MS_DEV_LAUNCH_BLOCKING",
    "log_level": "ASCEND_GLOBAL_LOG_LEVEL",
}
TORCH_NAMES = {
    "launch_blocking": "ASCEND_LAUNCH_BLOCKING",
    "alloc_conf": "PYTORCH_NPU_ALLOC_CONF",
    "task_queue": "TASK_QUEUE_ENABLE",
    "cpu_affinity": "CPU_AFFINITY_CONF",
}
"""What torch_npu calls otherwise, or has alone."""
LEVELS = {"debug": "0", "info": "1", "warning": "2", "error": "3", "none": "4"}
CARDS = re.compile(r"\d{1,4}(,\d{1,4})*", re.ASCII)
ALLOCATOR = re.compile(r"\w+:[\w.]+(,\w+:[\w.]+)*", re.ASCII)
AFFINITY = re.compile(r"[012](,npu\d{1,4}:\d{1,4}-\d{1,4})*", re.ASCII)


def variables(spec: LaunchSpec) -> dict[str, str]:
    """What the fields put into a training's environment; nothing for one that is left empty.

    A rank table names the cards itself, by their own numbers: hidden ones would have others.
    """
    ascend = spec.ascend
    hides = spec.parallel.parallel == "none" or spec.parallel.launcher != "rank_table"
    chosen = {
        "visible": ",".join(map(str, cards(ascend.visible) or ())) if hides else "",
        "connect_timeout": _text(ascend.connect_timeout),
        "exec_timeout": _text(ascend.exec_timeout),
        "buffsize": _text(ascend.buffsize),
        "deterministic": ascend.deterministic or "",
        "launch_blocking": "1" if ascend.launch_blocking else "",
        "log_level": LEVELS[ascend.log_level] if ascend.log_level else "",
        "alloc_conf": ascend.alloc_conf.replace(" ", ""),
        "task_queue": ascend.task_queue or "",
        "cpu_affinity": ascend.cpu_affinity.replace(" ", ""),
    }
    names = names_of(spec)
    return {names[field]: text for field, text in chosen.items() if text and field in names}


def names_of(spec: LaunchSpec) -> dict[str, str]:
    """The variable of each field, as the framework calls it."""
    return NAMES | (TORCH_NAMES if spec.what.framework == "torch" else {})


def environment(spec: LaunchSpec) -> dict[str, str]:
    """All that a training's environment is told: by the fields, and by rows of its own."""
    return variables(spec) | dict(spec.advanced.env)


def _text(number: int | None) -> str:
    return "" if number is None else str(number)


def cards(text: str) -> tuple[int, ...] | None:
    """The numbers of '0, 1,3'; none for '', None for what is no list of numbers.

    Spaces are a person's: CANN would stop reading at the first.
    """
    text = text.replace(" ", "")
    if not text:
        return ()
    return tuple(map(int, text.split(","))) if CARDS.fullmatch(text) else None


def _cards_are_a_list(spec: LaunchSpec) -> Iterable[Problem]:
    yield from list_problems(spec.ascend.visible)


def list_problems(devices_text: str) -> Iterable[Problem]:
    """Why a text of the field `visible` is no list of cards."""
    numbers = cards(devices_text)
    if numbers is None:
        yield _problem("visible", "launch.rule.visible_form", text=devices_text[:40])
    elif list(numbers) != sorted(set(numbers)):
        yield _problem("visible", "launch.rule.visible_order", text=devices_text[:40])


def _texts_have_a_form(spec: LaunchSpec) -> Iterable[Problem]:
    """torch_npu stops at a setting of its memory that it does not know, and passes over a binding of cores."""
    for field, form in (("alloc_conf", ALLOCATOR), ("cpu_affinity", AFFINITY)):
        text = schema.value_of(spec, field).replace(" ", "")
        if text and not form.fullmatch(text):
            yield _problem(field, f"launch.rule.{field}_form", text=text[:40])


def _cards_suffice(spec: LaunchSpec) -> Iterable[Problem]:
    """One card for each process of a node. A CPU needs none."""
    numbers = cards(spec.ascend.visible)
    if not numbers or spec.parallel.parallel == "none" or virtual_npu.has_no_card(spec):
        return
    if spec.parallel.workers > len(numbers):
        args = {"processes": spec.parallel.workers, "cards": len(numbers)}
        yield Problem(field="visible", rule="launch.rule.visible_few", args=args)


def _variables_are_set_once(spec: LaunchSpec) -> Iterable[Problem]:
    """A variable that is given as a row too: neither should win silently."""
    rows = dict(spec.advanced.env)
    for field, name in names_of(spec).items():
        is_set = schema.value_of(spec, field) != schema.field_of(type(spec), field).default
        if is_set and name in rows:
            yield _problem(field, "launch.rule.env_twice", name=name)


def _problem(field: str, rule: str, **args: str) -> Problem:
    return Problem(field=field, rule=rule, args=args)


RULES = (_cards_are_a_list, _texts_have_a_form, _cards_suffice, _variables_are_set_once)
