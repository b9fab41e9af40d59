"""The command line: it builds a spec from the same fields as the form, makes the same run and follows it.

Text for people goes to stderr, results to stdout; with `--json` the last line of stdout is one JSON object.
Exit codes: 0 done, 1 the work failed, 2 wrong use, 3 done and the answer is no, 128+n ended by signal n. A run of a
user's program ends with that program's own code, or with 125 where it has none.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from studio import files, schema, texts
from studio import run as runs
from studio.errors import StudioError, from_os
from studio.events import Artifact
from studio.exit_codes import DONE, FAILED, NO, NOT_RUN, USAGE
from studio.feature import action_of, command_line_of
from studio.output.terminal import json_text, printable, printable_line
from studio.output.usage_errors import usage_error
from studio.project import Project, make_runs_folder, project_around, project_of, runs_folder
from studio.sentences import known_reason, log_end, loss_text, reason_of
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from studio.feature import Action, DirectWork, Feature
    from studio.run import Glance, Run


STOP_SECONDS = 120.0
"""How long the processes of a stopped run may take to end after its grace."""


def run_command(words: list[str], features: tuple[Feature, ...], window: Callable[[Path | None, str], int]) -> int:
    """Parse one command line, do what it says and return the exit code. `window` opens the window with a project or a
    run, in a language, or "" for the remembered one.
    """
    _choose_language(words)
    try:
        arguments = _parser(features).parse_args(words)
        if arguments.do is None:
            return window(arguments.opened or arguments.project, arguments.language or "")
        return int(arguments.do(arguments))
    except StudioError as error:
        _print_message(str(error))
        return USAGE
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        _print_message(str(from_os(error, error.filename or "")))
        return FAILED


def command_in(words: list[str]) -> str:
    """Return the word that is the command; "" where there is none."""
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            return word
        if word in ("--project", "--language"):
            next(left, "")
    return ""


def _choose_language(words: list[str]) -> None:
    """Set the language before the parser is built, since its help has a language too."""
    words = words[: words.index(schema.BEHIND)] if schema.BEHIND in words else words
    for word, following in zip(words, [*words[1:], ""], strict=True):
        chosen = word.partition("=")[2] if word.startswith("--language=") else following
        if word.startswith("--language") and chosen in texts.LANGUAGES:
            texts.use(chosen)


class _Formatter(argparse.HelpFormatter):
    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, t("cli.usage") + " " if prefix is None else prefix)


class _Parser(argparse.ArgumentParser):
    """An argparse parser whose own messages are in the reader's language.

    `line`: the field that takes what stands behind `--`. `with_line`: the parser that takes over where `--` is given.
    `shows`: the words that show its help.
    """

    line: str = ""
    shows: str = "--help"
    with_line: _Parser | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(add_help=False, formatter_class=_Formatter, **options)
        self._optionals.title = t("cli.options")
        self._positionals.title = t("cli.arguments")
        self.add_argument("-h", "--help", action="help", help=t("cli.help"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Split the words at the first `--`: argparse drops some of several `--`, differently in each Python. It also
        leaves unknown words to the parser of all commands, whose help does not mention them.
        """
        words = list(args or ())
        if schema.BEHIND in words and self.with_line is not None:
            return self.with_line.parse_known_args(words, namespace)
        line_start = words.index(schema.BEHIND) if self.line and schema.BEHIND in words else len(words)
        namespace_, unknown = super().parse_known_args(words[:line_start], namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        if self.line:
            setattr(namespace_, self.line, tuple(words[line_start + 1 :]))
        return namespace_, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(
            USAGE, printable(t("cli.wrong", reason=usage_error(message), program=self.prog, shows=self.shows)) + "\n"
        )


def _print_message(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def _print_path(path: Path) -> None:
    """Print a path as a result: every byte of it where a program reads it, printable on a terminal."""
    if sys.stdout.isatty():
        print(printable_line(str(path)), flush=True)
    else:
        sys.stdout.buffer.write(os.fsencode(path) + b"\n")
        sys.stdout.buffer.flush()


def _parser(features: tuple[Feature, ...]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(prog="ascend-studio", description=t("cli.about"), epilog=t("cli.epilog"))
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("--project", type=Path, metavar=t("cli.folder"), help=t("cli.project"))
    whose.add_argument("--no-project", action="store_true", help=t("cli.no_project"))
    _add_language(parser)
    parser.set_defaults(do=None, opened=None, features=features)
    commands = parser.add_subparsers(title=t("cli.commands"), metavar=t("cli.command"))
    window = commands.add_parser("window", help=t("cli.window"), description=t("cli.window"))
    window.add_argument("opened", nargs="?", type=Path, metavar="PATH", help=t("cli.opened"))
    for feature in features:
        for action in feature.actions:
            if not action.line_of:
                _add_action(commands, feature, action)
    _add(commands, "runs", _list_runs)
    for name, do in (("watch", _watch), ("stop", _stop), ("log", _log)):
        _add(commands, name, do).add_argument("run", metavar="RUN", help=t("cli.run"))
    for name in ("watch", "stop"):
        commands.choices[name].add_argument("--take-over", action="store_true", help=t("cli.take_over"))
    commands.choices["watch"].add_argument("--start", action="store_true", help=t("cli.start"))
    _add(commands, "self-check", _self_check).add_argument(
        "--report", type=Path, default=Path("ascend-studio-self-check.json"), help=t("cli.report")
    )
    return parser


def _add_language(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    parser.add_argument("--language", choices=texts.LANGUAGES, default=default, help=t("cli.language"))


def _add(commands: Any, name: str, do: Any) -> _Parser:
    parser: _Parser = commands.add_parser(name, help=t(f"cli.{name}"), description=t(f"cli.{name}"))
    parser.add_argument("--json", action="store_true", help=t("cli.json"))
    _add_language(parser, default=argparse.SUPPRESS)
    parser.set_defaults(do=do)
    return parser


def _add_action(commands: Any, feature: Feature, action: Action) -> None:
    parser = _add(commands, action.name, _start)
    _set_up(parser, feature, action)
    for other in feature.actions:
        if other.line_of == action.name:
            about = t(f"cli.{other.name}")
            parser.with_line = _Parser(prog=parser.prog, description=about)
            parser.with_line.shows = f"--help {schema.BEHIND}"
            parser.with_line.add_argument("--json", action="store_true", help=t("cli.json"))
            _add_language(parser.with_line, default=argparse.SUPPRESS)
            parser.with_line.set_defaults(do=_start)
            _set_up(parser.with_line, feature, other)
            parser.epilog = t("cli.has_line", program=parser.prog, about=about)


def _set_up(parser: _Parser, feature: Feature, action: Action) -> None:
    parser.set_defaults(action=action, feature=feature, detach=False)
    if action.can_detach and not action.is_direct:
        parser.add_argument("--detach", action="store_true", help=t("cli.detach"))
    schema.add_arguments(parser, action.spec, lambda field: help_of(feature.id, field))
    if line := schema.line_of(action.spec):
        parser.line = line.name
        parser.usage = t("cli.line_usage", program=parser.prog.replace("%", "%%"))
        parser.epilog = t("cli.line") + (" " + t("cli.program_code") if action.is_program else "")


def help_of(feature: str, field: schema.Field) -> str:
    """Return one line about a field: its name, its unit and its default."""
    text = t(f"{feature}.field.{field.name}")
    if field.unit:
        text += f" ({t('unit.' + field.unit)})"
    if field.default not in (None, "", (), Path()):
        text += f" [{field.default}]"
    return text


def _project(arguments: argparse.Namespace) -> Project | None:
    if arguments.no_project:
        return None
    if arguments.project is None:
        return project_around(Path.cwd())
    if not arguments.project.is_dir():
        raise StudioError("error.no_such_file", path=str(arguments.project), reason="")
    return Project(folder=arguments.project.absolute())


def _start(arguments: argparse.Namespace) -> int:
    from studio import worker

    _find_runs(arguments)
    given = schema.given_fields(arguments.action.spec, arguments)
    _open_project(arguments)
    spec, wrong = schema.from_arguments(arguments.action.spec, arguments)
    if problems := wrong or _problems_of(spec, given):
        for problem in problems:
            flag = schema.field_of(arguments.action.spec, problem.field).flag
            _print_message(f"{flag}: {t(problem.rule, **problem.args)}")
        return USAGE
    if arguments.action.is_direct:
        return _run_directly(arguments, spec)
    project = _project(arguments)
    folder = make_runs_folder(project)
    run = runs.create(folder, arguments.action.name, schema.to_json(spec), project.folder if project else None)
    worker.start(run)
    if arguments.detach:
        return _result(arguments, run, runs.glance(run))
    return _follow(arguments, run, stop_on_interrupt=True)


def _problems_of(spec: Any, given: tuple[str, ...]) -> tuple[schema.Problem, ...]:
    """Return what is wrong with a spec and with the options that were given for it."""
    ineffective = schema.without_effect(spec, given)
    return (*ineffective, *(problem for problem in schema.problems(spec) if problem not in ineffective))


def _run_directly(arguments: argparse.Namespace, spec: Any) -> int:
    work: DirectWork = arguments.action.load_direct()
    code, answer = work(spec, _print_message)
    if arguments.json and answer:
        _print_json(answer)
    return code


def _find_runs(arguments: argparse.Namespace) -> None:
    """Replace each run that is given by its name, or by a part of it, by its folder, as `watch` does; a path that may
    be one only where there is no such file. Raises StudioError.
    """
    for field in schema.fields(arguments.action.spec):
        text = getattr(arguments, field.name)
        is_name = field.names_runs and text and "/" not in text and not Path(text).exists()
        if is_name or (field.wants == "run" and text):
            setattr(arguments, field.name, str(_folder_of_run(arguments, text, may_be_file=field.names_runs)))


def _folder_of_run(arguments: argparse.Namespace, text: str, *, may_be_file: bool) -> Path:
    """Return the folder of the run that a text names; the text itself where it names none and may be a file's."""
    try:
        return runs.find_run(runs_folder(_project(arguments)), text).folder
    except StudioError as error:
        if may_be_file and error.key == "run.unknown":
            return Path(text)
        raise


def _open_project(arguments: argparse.Namespace) -> None:
    """Set the folder of a program that follows behind `--`: it starts where this command was started."""
    for field in schema.fields(arguments.action.spec):
        if field.wants == "here" and getattr(arguments, field.name) is None:
            setattr(arguments, field.name, str(Path.cwd()))


def _follow(arguments: argparse.Namespace, run: Run, *, stop_on_interrupt: bool) -> int:
    """Show a run until it ends. Ctrl+C stops the run where this command started it, else only the watching."""
    from studio import worker
    from studio.follow import Follower
    from studio.security import trust

    project = project_of(run.folder)
    may_revive = stop_on_interrupt or project is None or trust.is_trusted(project.folder)
    follower = Follower(run, _print_message)
    while True:
        try:
            with _message_on_signal(run):
                glance = follower.follow(may_revive=may_revive, line=_line_of(arguments, run))
            return _result(arguments, run, glance)
        except KeyboardInterrupt:
            if not stop_on_interrupt:
                _print_message("")
                return 0
            _print_message(t("cli.stopping"))
            worker.stop(run)
        except StudioError as error:
            if not stop_on_interrupt and runs.glance(run).state != "gone":
                raise
            _print_message(str(error))
            return _result(arguments, run, runs.glance(run), error)


@contextmanager
def _message_on_signal(run: Run) -> Iterator[None]:
    """Say that the run goes on where this command is ended by SIGTERM, SIGQUIT or a terminal that is closed."""

    def leave(number: int, _: Any) -> NoReturn:
        with suppress(OSError):
            _print_message(t("cli.goes_on", run=run.name))
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _result(arguments: argparse.Namespace, run: Run, glance: Glance, error: StudioError | None = None) -> int:
    """Print the result of a run and return the exit code. `error`: why nobody waits for its end any more."""
    action = action_of(arguments.features, run.request.command)
    if arguments.json:
        answer = action.answer_of(run) if action and glance.state == "ended" else {}
        values = _as_json(run, glance) | ({"message": str(error)} if error else {})
        of_failure = {"log": log_end(run.log)} if runs.outcome_of(glance) in ("failed", "lost") else {}
        _print_json({**values, **of_failure, "artifacts": _artifacts(run), **_losses(run), **answer})
    elif runs.outcome_of(glance) == "done":
        _print_message(t("cli.done", run=printable_line(str(run.folder))))
    else:
        if end := "" if error else _end_of(run, glance):
            _print_message(end)
        if runs.outcome_of(glance) == "failed" and not known_reason(run.folder):
            _print_log_end(run)
        _print_path(run.folder)
    is_program = action is not None and action.is_program
    if error or _is_lost(glance):
        return NOT_RUN if is_program else FAILED
    return _exit_code(glance, is_program=is_program)


def _print_log_end(run: Run) -> None:
    """Where nothing is known of a failure, its last lines are all there is to go by."""
    lines = log_end(run.log)
    if lines:
        _print_message(t("cli.log_end"))
    for line in lines:
        _print_message(f"  {line}")


def _exit_code(glance: Glance, *, is_program: bool) -> int:
    """Return the code of the run: a user's program keeps its own, the work of the studio has 0, 1, 3 and 128+n. A
    training that ended well with losses that are no numbers, or before its last step, is no success, whosever program
    it is."""
    if glance.reason in (runs.NONFINITE, "incomplete"):
        return NO
    if is_program:
        return NOT_RUN if glance.reason == "failed_to_start" else glance.code or DONE
    code = glance.code or DONE
    return code if code in (DONE, FAILED) or code > 128 or glance.reason in ("no", "incomplete") else FAILED


def _end_of(run: Run, glance: Glance) -> str:
    """Return how a run ended that did not end well, "" where it goes on or its verdict was printed."""
    outcome = runs.outcome_of(glance)
    if outcome == "stopped":
        return t("cli.ended_stopped", code=glance.code)
    if outcome == "failed":
        return t("cli.ended_failed", code=glance.code)
    return reason_of(run.folder, glance)


def _is_lost(glance: Glance) -> bool:
    return glance.state in ("lost", "gone") or glance.reason == "lost"


def _as_json(run: Run, glance: Glance) -> dict[str, Any]:
    values = {name: _number(value) for name, value in glance.values.items()}
    return {
        "run": str(run.folder), "command": run.request.command, "state": glance.state,
        "code": None if _is_lost(glance) else glance.code, "reason": _reason(glance),
        "message": reason_of(run.folder, glance), "metrics": values, **_loss_basis(glance),
    }  # fmt: skip


def _loss_basis(glance: Glance) -> dict[str, str | int]:
    """Return what the metric `loss` of a run is of: of a mean also its step, the last one that all ranks have."""
    if glance.is_mean:
        return {"loss_basis": "mean_of_ranks", "loss_step": glance.mean_step}
    return {"loss_basis": "rank_0"} if "loss" in glance.values else {}


def _reason(glance: Glance) -> str:
    if glance.state in runs.WITHOUT_WORKER:
        return glance.state
    return "lost" if _is_lost(glance) else glance.reason


def _artifacts(run: Run) -> list[dict[str, str]]:
    """Return the files that the run left, as far as the end of its events names them: a checkpoint that gave way to a
    newer one is there no more."""
    events = [event for event in runs.last_events(run.folder) if isinstance(event, Artifact)]
    there = [event for event in events if files.exists(run.folder / event.path)]
    return [{"kind": event.kind, "path": event.path} for event in there]


def _losses(run: Run) -> dict[str, int]:
    """Return how many points and other records of the run could not be written."""
    from studio.faults.lost_records import lost_of

    lost = lost_of(run.folder)
    return {"lost_points": lost.points, "lost_records": lost.others}


def _number(value: float) -> float | str:
    """Return a number for JSON, which has no NaN: as in the protocol, a non-finite number is a string."""
    if value != value:
        return "NaN"
    infinite = {float("inf"): "Infinity", float("-inf"): "-Infinity"}
    return infinite.get(value, value)


def _print_json(value: Any) -> None:
    print(json_text(value), flush=True)


def _list_runs(arguments: argparse.Namespace) -> int:
    folder = runs_folder(_project(arguments))
    listed = [(run, runs.glance(run)) for run in runs.runs_in(folder)]
    damaged = runs.damaged_runs(folder, [run for run, _ in listed])
    if arguments.json:
        _print_json({"runs": [_as_json(run, glance) for run, glance in listed], "damaged": damaged})
        return 0
    if not listed and not damaged:
        _print_message(t("cli.no_runs", folder=str(folder)))
    for line in _table(listed):
        print(printable_line(line))
    for name in damaged:
        _print_message(t("cli.damaged_run", folder=printable_line(str(folder / name))))
    return 0


def _table(listed: Iterable[tuple[Run, Glance]]) -> Iterable[str]:
    from studio.units import duration

    for run, glance in listed:
        state = t(f"state.{runs.outcome_of(glance)}")
        lasted = duration(max(0.0, (glance.ended - glance.begun) / 1e9)) if glance.ended else ""
        yield f"{run.name}  {state:<12}  {lasted:>12}  {loss_text(glance)}"


def _named_run(arguments: argparse.Namespace) -> Run:
    return runs.find_run(runs_folder(_project(arguments)), arguments.run)


def _watch(arguments: argparse.Namespace) -> int:
    run = _named_run(arguments)
    _give_worker(arguments, run)
    return _follow(arguments, run, stop_on_interrupt=False)


def _give_worker(arguments: argparse.Namespace, run: Run) -> None:
    """Start a worker where this command asks for one; what it does is said before."""
    from studio import worker

    state = runs.state_of(run.folder)
    if state == "unattended" and arguments.take_over:
        worker.take_over(run)
    elif state in ("interrupted", "queued") and getattr(arguments, "start", False):
        _print_message(t("cli.starts", line=_line_of(arguments, run)))
        worker.start(run)


def _line_of(arguments: argparse.Namespace, run: Run) -> str:
    """Return the whole command that a start of a run runs, on one line of a terminal."""
    return printable_line(command_line_of(arguments.features, run.request) or run.request.command)


def _stop(arguments: argparse.Namespace) -> int:
    from studio import worker
    from studio.follow import raise_without_worker
    from studio.security import ledger

    run = _named_run(arguments)
    if runs.glance(run).state == "unattended":
        if not (arguments.take_over or ledger.is_own(run.folder)):
            raise_without_worker(run)
        worker.take_over(run)
        _wait(run, ("running", "ended"))
    if not worker.stop(run) and runs.glance(run).state != "ended":
        raise worker.stop_refusal(run)
    _wait(run, ("ended",))
    return _result(arguments, run, runs.glance(run))


def _wait(run: Run, states: tuple[str, ...]) -> None:
    """Wait until a run is in one of these states or nobody works on it. Raises StudioError where its worker takes
    longer than the grace of a stop and what comes after it.
    """
    seconds = STOP_SECONDS + _grace(run)
    end = time.monotonic() + seconds
    while runs.glance(run).state not in (*states, *runs.OVER, "interrupted"):
        if time.monotonic() > end:
            raise StudioError("run.stop_overdue", run=run.name, minutes=round(seconds / 60))
        time.sleep(0.1)


def _grace(run: Run) -> float:
    """Return the grace in seconds that a run's request names, 0 where it names none."""
    sections = [section for section in run.request.values.values() if isinstance(section, dict)]
    graces = [section["grace"] for section in sections if isinstance(section.get("grace"), int | float)]
    return min(86400.0, max([0.0, *map(float, graces)]))


def _log(arguments: argparse.Namespace) -> int:
    from studio.output.log import write_json_log, write_log

    run = _named_run(arguments)
    if arguments.json:
        write_json_log(run.log, run.folder, sys.stdout)
    else:
        write_log(run.log, sys.stdout)
    return 0


def _self_check(arguments: argparse.Namespace) -> int:
    from studio.self_check import self_check

    report = self_check(arguments.report, print_message=_print_message)
    if arguments.json:
        _print_json(report)
    return 0 if report["ok"] else 1
