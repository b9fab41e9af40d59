"""Thirty good migrations."""

# ruff: noqa: E501 - lines of scripts as they are edited

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.migration.plans import planned_texts
from tests.planted.migrations.case import MigrationCase
from tests.planted.migrations.originals import BY_HAND, BY_TRANSFER, DATA, ORIGINALS, changed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.migrate.changes import Style

_ANYWHERE = (
    'import torch\n', 'import torch\ntry:\n    import torch_npu\nexcept ImportError:\n    pass\n'
)  # fmt: skip
_KIND = 'KIND = "npu" if hasattr(torch, "npu") and torch.npu.is_available() else "cuda" if torch.cuda.is_available() else "cpu"\n'


def right_cases() -> Iterator[MigrationCase]:
    """Yield them; those of `migrate` itself are planned when they are asked for."""
    yield from (_case("by hand", name, BY_HAND[name], is_short=name in ("plain", "scaled")) for name in ORIGINALS)
    yield from (_case("by transfer", name, BY_TRANSFER[name]) for name in ORIGINALS)
    for style in ("minimal", "explicit"):
        for name in ORIGINALS:
            case = _case(style, name, planned(name, style))  # type: ignore[arg-type]
            yield replace(case, promise="any") if style == "explicit" and name != "ranks" else case
    plain, scaled, brain, ranks, simple = (BY_HAND[name] for name in ("plain", "scaled", "brain", "ranks", "simple"))
    yield _case(
        "no seed of the card where torch's is the same", "brain", changed(brain, ('device = "npu"', 'device = "npu:0"'))
    )
    yield _case("a device without an index", "plain", changed(plain, ('torch.device("npu:0")', 'torch.device("npu")')))
    yield _case("a helper for the device", "plain",
                changed(plain, ('device = torch.device("npu:0")\n', "\ndef pick():\n    return torch.device('npu', 0)\n\n\ndevice = pick()\n")))  # fmt: skip
    yield _case(
        "comments and names",
        "scaled",
        changed(scaled, ("total = 0.0", "# was cuda\nrunning = 0.0"), ("total +=", "running +=")),
    )
    yield _case("the current card by number", "ranks", changed(ranks, (".npu(rank)", '.to(f"npu:{rank}")')))
    yield _case("torch.npu.amp", "scaled",
                changed(scaled, ('torch.amp.GradScaler("npu", init_scale=1024.0)', "torch.npu.amp.GradScaler(init_scale=1024.0)")))  # fmt: skip
    yield _case("a guard that an npu never meets", "plain",
                changed(plain, ("for epoch in", "if torch.cuda.is_available():\n    torch.cuda.empty_cache()\nfor epoch in")))  # fmt: skip
    yield _case("dead code", "brain", changed(brain, ("def evaluate", "if False:\n    net.cuda()\n\n\ndef evaluate")))
    yield _case(
        "a file that nothing loads", "simple", simple, files=(("old.py", "import torch\ntorch.zeros(1).cuda()\n"),)
    )
    yield _case("on any host", "simple",
                changed(ORIGINALS["simple"], _ANYWHERE, ('torch.device("cuda" if torch.cuda.is_available() else "cpu")', "torch.device(KIND)"),
                        ("settings = json", _KIND + "settings = json")), promise="any")  # fmt: skip


def _case(how: str, name: str, text: str, **more: object) -> MigrationCase:
    return MigrationCase(name=f"{how}, {name}", original=name, text=text, **more)  # type: ignore[arg-type]


def planned(name: str, style: Style) -> str:
    """Return the train.py that `migrate` writes."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for file, text in (("train.py", ORIGINALS[name]), *DATA.get(name, {}).items()):
            (folder / file).write_text(text)
        return planned_texts(folder, style).get("train.py", ORIGINALS[name])
