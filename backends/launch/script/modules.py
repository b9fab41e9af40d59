"""The engine's sources as one name space: each name says which module's it is, until the script is written.

A name of a module's own becomes `ascend_engine.step:make_norm`, one that it imports from elsewhere
`!mindspore|ms` with the line that imports it; names local to a function stay as they are.
"""

from __future__ import annotations

import ast
import builtins
import io
import tokenize
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENGINE = Path(__file__).parents[1] / "engine"
PACKAGE = "ascend_engine"
RECORD = f"{PACKAGE}.record"
N = TypeVar("N", bound=ast.AST)
Function = ast.FunctionDef | ast.Lambda


class Indigestible(StudioError):
    """The engine's source has something in it that no plain script can be made of."""

    def __init__(self, what: str) -> None:
        super().__init__("launch.script_indigestible", what=what)


@dataclass
class Definition:
    """A statement of a module's top level; `names`: what it binds."""

    names: tuple[str, ...]
    node: ast.stmt
    module: Module
    index: int


@dataclass
class Module:
    """`bound`: what each name of its top level stands for; `typing`: those that only annotations use."""

    name: str
    lines: list[str]
    tree: ast.Module
    bound: dict[str, str] = field(default_factory=dict)
    needs: list[str] = field(default_factory=list)


@dataclass
class Program:
    """All that may be reached from an entry, by name. `order`: modules, those that others need first."""

    recipe: str
    package: str = PACKAGE
    """Where the framework's own modules are."""
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    order: list[Module] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)
    files: dict[str, Path] = field(default_factory=dict)

    def load(self, name: str) -> None:
        """Adds a module and all that it imports."""
        if name in self.loaded:
            return
        self.loaded.add(name)
        module = read_module(name, self.files.get(name) or file_of(name))
        bind(module, self.imports)
        for needed in module.needs:
            self.load(needed)
        self.order.append(module)
        for index, statement in enumerate(module.tree.body):
            self._define(module, index, statement)

    def _define(self, module: Module, index: int, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Import | ast.ImportFrom) or is_text(statement) or is_skipped(statement):
            return
        names = tuple(f"{module.name}:{name}" for name in bound_by(statement))
        if not names:
            raise Indigestible(f"{module.name}, line {statement.lineno}")
        node = Resolver(module, self).define(statement)
        definition = Definition(names, node, module, index)
        self.definitions.update(dict.fromkeys(names, definition))


def file_of(name: str) -> Path:
    path = ENGINE.joinpath(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def read_module(name: str, path: Path) -> Module:
    """Raises StudioError for a file of the user's that is no Python."""
    try:
        text = source_of(path, path.stat().st_mtime_ns)
        tree = ast.parse(text, str(path))
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise StudioError("launch.recipe_unreadable", file=str(path), error=str(error)) from error
    remember(tree, text)
    return Module(name, text.splitlines(), AtOnce().visit(tree) if name == RECORD else tree)


class AtOnce(ast.NodeTransformer):
    """`self.deferred.do(f, x)` as `f(x)`: a script has nobody else to tell."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) != "self.deferred.do":
            return node
        return located(ast.Call(node.args[0], node.args[1:], []), node)


@dataclass(frozen=True)
class Written:
    """How a statement was written: its lines, the comments above and behind it, and what it was then."""

    lines: tuple[str, ...]
    above: tuple[str, ...]
    behind: str
    apart: bool
    dump: str


def remember(tree: ast.Module, text: str) -> None:
    """Gives each statement its `written`, since a syntax tree has no comments."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    lines = text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            node.written = written(node, lines, comments)  # type: ignore[attr-defined]


def written(node: ast.stmt, lines: list[str], comments: dict[int, str]) -> Written:
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    last = node.end_lineno or node.lineno
    top = first
    while top - 1 in comments and lines[top - 2].lstrip().startswith("#"):
        top -= 1
    above = tuple(lines[number - 1].strip() for number in range(top, first))
    behind = comments.get(last, "")
    return Written(
        lines=tuple(line[min(node.col_offset, len(line) - len(line.lstrip())) :] for line in lines[first - 1 : last]),
        above=above,
        behind="" if behind.startswith(("# noqa", "# fmt", "# type")) else behind,
        apart=top > 1 and not lines[top - 2].strip(),
        dump=ast.dump(node),
    )


@lru_cache(maxsize=128)
def source_of(path: Path, _changed: int) -> str:
    return path.read_text("utf-8")


def is_module(name: str) -> bool:
    return (name == PACKAGE or name.startswith(PACKAGE + ".")) and file_of(name).is_file()


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def is_skipped(node: ast.AST) -> bool:
    """For annotations only, or for a module that is run by itself."""
    return is_typing(node) or (isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'")


def bind(module: Module, imports: dict[str, str]) -> None:
    """What the names of a module's top level stand for; its own come last, as they do when it runs."""
    for statement in module.tree.body:
        for inner in statement.body if is_typing(statement) and isinstance(statement, ast.If) else [statement]:
            if isinstance(inner, ast.Import | ast.ImportFrom):
                bindings = list(imported(inner, imports))
                module.bound.update(bindings)
                if inner is statement:
                    module.needs += [
                        needed for _, name in bindings if (needed := name.partition(":")[0]) and ":" in name
                    ]
    for statement in module.tree.body:
        module.bound.update({name: f"{module.name}:{name}" for name in bound_by(statement)})


def imported(node: ast.Import | ast.ImportFrom, imports: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Name and what it stands for; `PACKAGE.module:` is a module of the engine."""
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        if isinstance(node, ast.ImportFrom):
            whole = f"{node.module}.{alias.name}"
            if is_module(whole):
                yield name, whole + ":"
                continue
            if is_module(node.module or ""):
                yield name, f"{node.module}:{alias.name}"
                continue
            line = ast.unparse(ast.ImportFrom(node.module, [alias], node.level))
        else:
            line = ast.unparse(ast.Import([alias]))
        marked = f"!{line}|{name}"
        imports[marked] = line
        yield name, marked


def bound_by(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement of a top level binds, but by importing."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def locals_of(function: Function) -> set[str]:
    """Names that a function binds itself, not those of functions in it."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = {argument.arg for argument in every if argument}
    pending: list[ast.AST] = list(function.body) if isinstance(function, ast.FunctionDef) else [function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            pending += node.decorator_list
            continue
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Lambda):
            continue
        pending += ast.iter_child_nodes(node)
    return names


class Resolver(ast.NodeTransformer):
    """Gives the names of a top-level statement their modules."""

    def __init__(self, module: Module, program: Program) -> None:
        self.module = module
        self.program = program
        # The first scope is the top level's: names of its comprehensions.
        self.scopes: list[dict[str, str | None]] = [{}]

    def define(self, statement: ast.stmt) -> ast.stmt:
        loops = (child.target for child in ast.walk(statement) if isinstance(child, ast.comprehension))
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            self.scopes[0] = {
                child.id: None for loop in loops for child in ast.walk(loop) if isinstance(child, ast.Name)
            }
        node: ast.stmt = self.visit(statement)
        return node

    def meaning(self, name: str) -> str | None:
        """What a name stands for; None where it is local or Python's own."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        global_name = self.module.bound.get(name)
        if global_name is None and not hasattr(builtins, name) and not name.startswith("__"):
            raise Indigestible(f"{self.module.name}: {name}")
        return global_name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        meaning = self.meaning(node.id)
        return node if meaning is None else located(ast.Name(meaning, node.ctx), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.value = self.visit(node.value)
        if isinstance(node.value, ast.Name) and node.value.id.endswith(":"):
            module = node.value.id[:-1]
            self.program.load(module)
            inside = f"{module}.{node.attr}"
            return located(ast.Name(inside + ":" if is_module(inside) else node.value.id + node.attr, node.ctx), node)
        return node

    def _function(self, node: Any) -> Any:
        for part in (node.args.defaults, node.args.kw_defaults):
            part[:] = [self.visit(default) if default else default for default in part]
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
            node.returns = self._annotation(node.returns)
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for argument in filter(None, every):
            argument.annotation = self._annotation(argument.annotation)
        self.scopes.append(dict.fromkeys(locals_of(node)))
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = self._block(node.body)
        self.scopes.pop()
        return node

    visit_FunctionDef = visit_Lambda = _function

    def _block(self, body: Iterable[ast.stmt]) -> list[ast.stmt]:
        """A module of the engine that a function imports is as good as imported at the top."""
        statements: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            statements += [new] if isinstance(new, ast.AST) else new or []  # type: ignore[list-item]
        return statements

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return self._local_import(node)

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        return self._local_import(node)

    def _local_import(self, node: ast.Import | ast.ImportFrom) -> ast.AST | None:
        for name, meaning in imported(node, self.program.imports):
            self.scopes[-1][name] = meaning
            if ":" in meaning and not meaning.startswith("!"):
                self.program.load(meaning.partition(":")[0])
        return None

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        """`module = import_module("ascend_engine.recipes." + config.recipe)` is the recipe's module from then on."""
        dynamic = isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("import_module")
        if len(self.scopes) > 1 and dynamic and self.program.recipe != "own":
            module = f"{self.program.package}.recipes.{self.program.recipe}"
            self.program.load(module)
            (target,) = node.targets
            assert isinstance(target, ast.Name)
            self.scopes[-1][target.id] = module + ":"
            return None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = self._annotation(node.annotation)
        node.target = self.visit(node.target)
        node.value = self.visit(node.value) if node.value else None
        return node

    def _annotation(self, node: Any) -> Any:
        """Only what is ours matters of it: types that the program is read by."""
        if node is None:
            return None
        for child in ast.walk(node):
            if isinstance(child, ast.Name):
                child.id = self.module.bound.get(child.id, child.id)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.bases = [self.visit(base) for base in node.bases]
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        own: dict[str, str | None] = {name: None for child in node.body for name in bound_by(child)}
        statements = []
        for statement in node.body:
            # Functions of a class do not see its names.
            inside = [] if isinstance(statement, ast.FunctionDef) else [own]
            self.scopes += inside
            statements.append(self.visit(statement))
            del self.scopes[len(self.scopes) - len(inside) :]
        node.body = statements
        return node


def located(new: N, old: ast.AST) -> N:
    return ast.copy_location(new, old)
