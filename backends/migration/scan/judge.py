"""What a place means for an NPU: its state, the effort, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.found import Found
from backends.migration.scan.advice.rules import RULES as ADVICE
from backends.migration.scan.facts import support
from backends.migration.scan.facts.rules import rules
from backends.migration.scan.judge_files import JUDGES as OF_FILES
from backends.migration.scan.judge_files import library
from backends.migration.scan.judge_names import JUDGES as OF_NAMES
from backends.migration.scan.judge_strings import JUDGES as OF_STRINGS
from backends.migration.scan.judgement import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from backends.migration.found import Place
    from backends.migration.scan.facts.facts import Facts

    Judge: TypeAlias = Callable[[Place, Facts], Verdict]

JUDGES: dict[str, Judge] = OF_NAMES | OF_STRINGS | OF_FILES


def judge(place: Place, facts: Facts) -> Found | None:
    """None where there is nothing to say, as of a torch API that an NPU has."""
    if place.rule:
        return _advice(place, facts)
    verdict = _api(place, facts) if place.category == "api" else _verdict(place, facts)
    return None if verdict is None else _found(place, verdict, facts)


def _verdict(place: Place, facts: Facts) -> Verdict:
    if place.category.startswith("lib_"):
        return library(place, facts)
    known = JUDGES.get(place.category)
    verdict = known(place, facts) if known else Verdict("place.unknown", "absent", "low")
    return verdict._replace(because="unparsed", confidence="low") if place.args.get("unparsed") else verdict


def _advice(place: Place, facts: Facts) -> Found | None:
    """Advice brings its rule along. An operator that the facts have a kernel for does not fall back."""
    operator = place.args.get("operator")
    if operator and facts.aten_class(operator) in ("kernel", "composite"):
        return None
    known = ADVICE.get(place.rule)
    return _found(place, Verdict(place.rule, "advised", known.confidence if known else "high"), facts)


def _found(place: Place, verdict: Verdict, facts: Facts) -> Found:
    rule = rules()[verdict.rule]
    is_api = place.name.startswith("torch.") and not facts.is_module(place.name)
    return Found(
        kind=place.kind, path=place.path, line=place.line, end=place.end, column=place.column,
        end_column=place.end_column, cell=place.cell, category=place.category, rule=verdict.rule, state=rule.state,
        effort=rule.effort, confidence=verdict.confidence, because=f"rule_because.{verdict.because}", name=place.name,
        context=place.context, text=place.text, args=place.args | (_documented(place.name, facts) if is_api else {}),
        support=facts.support(place.name) if is_api else {}, mindspore=facts.mindspore(place.name) if is_api else "",
    )  # fmt: skip


def _documented(name: str, facts: Facts) -> dict[str, object]:
    """`page`: of the documentation that names the API; `restricted`: it names a restriction; `npu_name`: what to call
    in its place. Only what there is."""
    told = {"page": facts.link(name), "restricted": facts.restricted(name), "npu_name": facts.own_name(name)}
    return {key: value for key, value in told.items() if value}


def _api(place: Place, facts: Facts) -> Verdict | None:
    """A torch API that the documentation refuses on A2 and A3. Where torch_npu lists a kernel for the operator behind
    it, or others that make it up, the two disagree, and nothing is settled before it runs on a card."""
    if facts.deprecated(place.name):
        return Verdict("api.deprecated", "table")
    said = facts.support(place.name)
    if said == support.UNVERIFIED or "yes" in (said["a2"], said["a3"]):
        return None
    if facts.aten_class(operator_of(place.name)) in ("kernel", "composite"):
        return Verdict("api.disputed", "sources_differ", "low")
    return Verdict("api.unsupported", "table", "medium")


def operator_of(name: str) -> str:
    """The aten operator that a function or a method of torch stands for: linalg_eig for torch.linalg.eig."""
    parts = name.split(".")
    group = f"{parts[1]}_" if len(parts) == 3 and parts[1] in ("linalg", "fft", "special") else ""
    return group + parts[-1]
