"""The template of an own recipe: a commented file that trains as it is, and belongs to the user from then on."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio import paths, texts
from studio.errors import from_os
from studio.events import Artifact, Ended, Journal, Note
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.run import Run


FILES = {"mindspore": "recipe", "torch": "recipe_torch"}
"""The template of each framework, without the language."""


def make_template(folder: Path, language: texts.Language, framework: str = "mindspore") -> Path:
    """Writes recipe.py into a folder, or recipe_2.py and so on where that name is taken; returns the file. Raises
    StudioError."""
    content = (paths.ASSETS / "template" / f"{FILES[framework]}.{language}.py").read_bytes()
    for name in chain(["recipe.py"], (f"recipe_{number}.py" for number in count(2))):
        path = folder / name
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            raise from_os(error, path) from error
        return path
    raise AssertionError("there is always another name")


@dataclass(frozen=True, kw_only=True)
class Template:
    """`into` empty: the project's folder, or without one the run's own artifacts."""

    into: Path = option(Path())
    comments: Literal["en", "zh"] | None = option(None)
    of_framework: Literal["mindspore", "torch"] = option("mindspore", flag_name="framework")


def _folder_exists(spec: TemplateSpec) -> Iterable[Problem]:
    into = spec.template.into
    if into != Path() and not into.is_dir():
        yield Problem(field="into", rule="launch.rule.no_folder", args={"path": str(into)})


@dataclass(frozen=True, kw_only=True)
class TemplateSpec:
    template: Template = field(default_factory=Template)

    RULES = (_folder_exists,)


def template(spec: TemplateSpec, run: Run) -> Ended:
    chosen = spec.template
    home = Path(run.request.project) if run.request.project else run.folder / "artifacts"
    folder = home if chosen.into == Path() else chosen.into
    path = make_template(folder, chosen.comments or texts.language(), chosen.of_framework)
    note = Note(key="launch.template_written", args={"file": str(path)})
    Journal(run.folder, 1).write(Artifact(kind="recipe", path=str(path)), note)
    return Ended(code=0)
