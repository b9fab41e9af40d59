"""Judge an occurrence: what it means for an NPU, the effort, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.finding import ScanFinding
from backends.migration.scan.advice.advice_rules import ADVICE_RULES as ADVICE
from backends.migration.scan.facts import support
from backends.migration.scan.facts.rules import load_rules
from backends.migration.scan.verdicts.api_verdicts import API_JUDGES as OF_NAMES
from backends.migration.scan.verdicts.file_verdicts import FILE_JUDGES as OF_FILES
from backends.migration.scan.verdicts.file_verdicts import judge_library
from backends.migration.scan.verdicts.text_verdicts import TEXT_JUDGES as OF_STRINGS
from backends.migration.scan.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from backends.migration.finding import Occurrence
    from backends.migration.scan.facts.facts import Facts

    Judge: TypeAlias = Callable[[Occurrence, Facts], Verdict]

_WITH_DEVICE = frozenset(
    ("device_str", "nccl_str", "device_int", "cuda_api", "cuda_tensor_type", "cuda_method", "is_cuda", "amp_cuda",
     "amp_generic", "nccl_api", "cuda_env")
)  # fmt: skip
"""Categories of what a branch for NPUs replaces."""
COMPOSED = frozenset(("torch.nn.TransformerEncoder", "torch.nn.TransformerDecoder"))
"""Modules that only call other modules, each of which has an answer of its own."""
MODULE_OPERATORS = {
    "torch.nn.AdaptiveMaxPool1d": "adaptive_max_pool1d", "torch.nn.AdaptiveMaxPool2d": "adaptive_max_pool2d",
    "torch.nn.AvgPool3d": "avg_pool3d", "torch.nn.CosineEmbeddingLoss": "cosine_embedding_loss",
    "torch.nn.MaxPool1d": "max_pool1d", "torch.nn.MaxPool3d": "max_pool3d_with_indices",
    "torch.nn.MaxUnpool3d": "max_unpool3d", "torch.nn.MultiLabelMarginLoss": "multilabel_margin_loss",
    "torch.nn.RNN": "rnn_tanh.input", "torch.nn.RNNCell": "rnn_tanh_cell", "torch.nn.RReLU": "rrelu_with_noise",
    "torch.nn.ReflectionPad3d": "reflection_pad3d", "torch.nn.ReplicationPad3d": "replication_pad3d",
    "torch.nn.utils.rnn.pack_padded_sequence": "_pack_padded_sequence",
}  # fmt: skip
"""Modules and functions whose work is that of one operator."""
JUDGES: dict[str, Judge] = OF_NAMES | OF_STRINGS | OF_FILES


def judge(occurrence: Occurrence, facts: Facts) -> ScanFinding | None:
    """Return None where there is nothing to report, as for a torch API that an NPU supports."""
    if occurrence.rule:
        return _judge_advice(occurrence, facts)
    verdict = _judge_api(occurrence, facts) if occurrence.category == "api" else _judge_category(occurrence, facts)
    return None if verdict is None else _make_finding(occurrence, verdict, facts)


def _judge_category(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.category.startswith("lib_"):
        return judge_library(occurrence, facts)
    if occurrence.args.get("npu_branch") and occurrence.category in _WITH_DEVICE:
        return Verdict("place.npu_branch", "npu_branch", "medium")
    judge_category = JUDGES.get(occurrence.category)
    verdict = judge_category(occurrence, facts) if judge_category else Verdict("place.unknown", "absent", "low")
    return verdict._replace(because="unparsed", confidence="low") if occurrence.args.get("unparsed") else verdict


def _judge_advice(occurrence: Occurrence, facts: Facts) -> ScanFinding | None:
    """Judge advice, which brings its own rule. An operator for which the facts list a kernel does not fall back."""
    operator = occurrence.args.get("operator")
    if operator and facts.aten_class(operator) in ("kernel", "composite"):
        return None
    advice_rule = ADVICE.get(occurrence.rule)
    return _make_finding(
        occurrence, Verdict(occurrence.rule, "advised", advice_rule.confidence if advice_rule else "high"), facts
    )


def _make_finding(occurrence: Occurrence, verdict: Verdict, facts: Facts) -> ScanFinding:
    rule = load_rules()[verdict.rule]
    is_api = occurrence.name.startswith("torch.") and not facts.is_module(occurrence.name)
    return ScanFinding(
        kind="need" if occurrence.category == "api" else occurrence.kind,
        path=occurrence.path,
        line=occurrence.line,
        end=occurrence.end,
        column=occurrence.column,
        end_column=occurrence.end_column,
        cell=occurrence.cell,
        category=occurrence.category,
        rule=verdict.rule,
        state=rule.state,
        effort=rule.effort,
        confidence=verdict.confidence,
        because=f"rule_because.{verdict.because}",
        name=occurrence.name,
        context=occurrence.context,
        text=occurrence.text,
        args=occurrence.args | (_documentation(occurrence.name, facts) if is_api else {}),
        support=facts.hardware_support(occurrence.name) if is_api else {},
        mindspore=facts.mindspore_name(occurrence.name) if is_api else "",
    )


def _documentation(name: str, facts: Facts) -> dict[str, object]:
    """`page`: of the documentation that names the API; `restricted`: it names a restriction; `npu_name`: what to call
    in its place. Only what there is."""
    documentation = {
        "page": facts.documentation_link(name),
        "restricted": facts.is_restricted(name),
        "npu_name": facts.npu_name(name),
    }
    return {key: value for key, value in documentation.items() if value}


def _judge_api(occurrence: Occurrence, facts: Facts) -> Verdict | None:
    """A torch API that the documentation refuses on A2 and A3. Where torch_npu lists a kernel for the operator behind
    it, or others that make it up, the two disagree, and nothing is settled before it runs on a card."""
    if facts.is_deprecated(occurrence.name):
        return Verdict("api.deprecated", "table")
    support_table = facts.hardware_support(occurrence.name)
    if support_table == support.UNVERIFIED or "yes" in (support_table["a2"], support_table["a3"]):
        return None
    if occurrence.name in COMPOSED:
        return Verdict("api.composed", "sources_differ", "medium")
    if facts.aten_class(aten_operator(occurrence.name)) in ("kernel", "composite"):
        return Verdict("api.disputed", "sources_differ", "low")
    return Verdict("api.unsupported", "table", "medium")


def aten_operator(name: str) -> str:
    """Return the aten operator behind a function, a method or a module of torch: linalg_eig for torch.linalg.eig,
    avg_pool3d for torch.nn.AvgPool3d."""
    if name in MODULE_OPERATORS:
        return MODULE_OPERATORS[name]
    parts = name.split(".")
    group = f"{parts[1]}_" if len(parts) == 3 and parts[1] in ("linalg", "fft", "special") else ""
    return group + parts[-1]
