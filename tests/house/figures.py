"""Figures of how the sources are connected and how they read; ``python -m tests.house.figures`` prints them.

Each figure has a bound in ``figures.json``. A test fails where a figure is above its bound. ``--renew`` lowers the
bounds to the figures of today; it never raises one.
"""

from __future__ import annotations

import ast
import gc
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gradtool.engine.core.collector import pause_gc

ROOT = Path(__file__).parents[2]
BOUNDS = Path(__file__).with_name("figures.json")

_PREPOSITIONS = """
    about above across after against along among around at before behind below beneath beside besides between beyond by
    during for from in inside into like near of off on onto out outside over past per since through to toward towards
    under until up upon via with within without
"""
_PARTICIPLES = """
    begun bound broken brought built bought caught chosen come cut done drawn driven fallen felt found forgotten frozen
    given gone grown heard held hidden hit kept known laid lain left lent lost made meant met paid said seen sent shown
    sorted spent spoken stood stuck sunk swept taken taught thought thrown told torn understood won worn woven written
"""
_VERBS = """
    bed bleed breed bring embed exceed feed freed hundred king need proceed red ring seed shed shred sibling sled sling
    speed spring sting string succeed swing thing wed weed wing
"""
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
PARTICIPLES = frozenset(_PARTICIPLES.split()) - {"cut", "hit"}
"""Past participles that do not end in ``ed``; what is a verb in the imperative, too, is left to the reader."""
NOT_PARTICIPLES = frozenset(_VERBS.split())
OPENERS = frozenset(("What", "Whether", "Where", "Which", "Who", "Whose", "How", "When", "That"))


@dataclass(frozen=True)
class Module:
    """A file of the sources.

    Attributes:
        name: as Python imports it.
        package: the package that its relative imports begin at.
    """

    name: str
    package: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def is_surface(self) -> bool:
        """Whether its names are Paddle's: public functions, and operators."""
        return self.name.startswith(("gradtool.paddle", "gradtool.engine.ops.library"))


@dataclass(frozen=True)
class Import:
    """One module imported by another: at its top, inside a function, or for types alone."""

    importer: str
    imported: str
    where: str


@cache
def modules() -> Mapping[str, Module]:
    """Return the files of the sources by their names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders: dict[str, str] = settings["package-dir"]
    found: dict[str, Module] = {}
    with pause_gc():
        for package in settings["packages"]:
            mapped = max((p for p in folders if package == p or package.startswith(f"{p}.")), key=len)
            folder = ROOT / folders[mapped] / package[len(mapped) :].strip(".").replace(".", "/")
            for path in sorted(folder.glob("*.py")):
                name = package if path.stem == "__init__" else f"{package}.{path.stem}"
                text = path.read_text(encoding="utf-8")
                found[name] = Module(name, package, path, text, ast.parse(text))
        gc.freeze()  # millions of nodes: a collection that goes through them takes longer than all figures
    return found


@cache
def imports() -> tuple[Import, ...]:
    """Return the imports among the files of the sources."""
    return tuple(each for module in modules().values() for each in _imports(module, module.tree, "top"))


def _imports(module: Module, node: ast.AST, where: str) -> Iterator[Import]:
    waiting: list[tuple[ast.AST, str]] = [(node, where)]
    while waiting:
        parent, where = waiting.pop()
        for child in _statements(parent):
            inner = where
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and where == "top":
                inner = "function"
            if isinstance(child, ast.If) and _is_type_checking(child.test):
                waiting += [(ast.Module(child.body, []), "types"), (ast.Module(child.orelse, []), where)]
                continue
            yield from (Import(module.name, name, where) for name in _imported(module, child))
            waiting.append((child, inner))


def _statements(parent: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements, handlers and cases that a statement holds; expressions take most of a walk."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        yield from getattr(parent, name, ())


def _is_type_checking(test: ast.expr) -> bool:
    names = (getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(test))
    return "TYPE_CHECKING" in names


def _imported(module: Module, node: ast.AST) -> set[str]:
    """Return the files that a statement imports."""
    if isinstance(node, ast.Import):
        return {name for alias in node.names if (name := _file_of(alias.name))}
    if not isinstance(node, ast.ImportFrom):
        return set()
    base = node.module or ""
    if node.level:
        parts = module.package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
    names = {name for alias in node.names if (name := _file_of(f"{base}.{alias.name}"))}
    return names - {module.name}


def _file_of(name: str) -> str:
    """Return the file that a dotted name is in, or is; empty where it is none of ours."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


def circles() -> list[list[str]]:
    """Return the sets of files that import each other, imports inside functions counted, the largest first.

    Tarjan's algorithm, without recursion.
    """
    edges: dict[str, set[str]] = defaultdict(set)
    for each in imports():
        if each.where != "types" and each.importer != each.imported:
            edges[each.importer].add(each.imported)
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    open_: set[str] = set()
    found: list[list[str]] = []
    for root in modules():
        if root in number:
            continue
        work = [(root, iter(sorted(edges[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        open_.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    cut = stack.index(node)
                    found.append(sorted(stack[cut:]))
                    open_.difference_update(stack[cut:])
                    del stack[cut:]
            elif following not in number:
                number[following] = low[following] = len(number)
                stack.append(following)
                open_.add(following)
                work.append((following, iter(sorted(edges[following]))))
            elif following in open_:
                low[node] = min(low[node], number[following])
    return sorted(found, key=len, reverse=True)


def repeated_classes() -> list[str]:
    """Return the public names of classes that stand in several files."""
    names = Counter(
        node.name
        for module in modules().values()
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sorted(name for name, count in names.items() if count > 1)


@cache
def definitions() -> tuple[tuple[Module, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef], ...]:
    """Return the modules, classes, functions and methods of the sources, in one walk over all files."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = []
    for module in modules().values():
        waiting: list[ast.AST] = [module.tree]
        while waiting:
            node = waiting.pop()
            if isinstance(node, kinds):
                found.append((module, node))
            waiting.extend(child for child in _statements(node) if isinstance(child, ast.stmt))
    return tuple(found)


def functions(*, surface: bool) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """Yield the functions and methods of the sources, those of Paddle's surface only on request."""
    for module, node in definitions():
        if isinstance(node, ast.FunctionDef) and (surface or not module.is_surface):
            yield module, node


def is_participle(name: str) -> bool:
    """Return whether a function's name begins with a participle or a preposition.

    >>> [is_participle(n) for n in ("told", "of_rows", "find_births", "_drawn", "feed", "norm")]
    [True, True, False, True, False, False]
    """
    if name.startswith("__"):
        return False
    word = name.strip("_").partition("_")[0].lower()
    if word in PREPOSITIONS or word in PARTICIPLES:
        return True
    return word.endswith(("ed", "ing")) and len(word) > 3 and word not in NOT_PARTICIPLES


def decisions(function: ast.FunctionDef) -> int:
    """Return the number of decisions of a function: branches, loops, handlers, conditions, filters."""
    count = 0
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.Assert, ast.match_case)):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        waiting.extend(ast.iter_child_nodes(node))
    return count


def lists_of_verdicts(tree: ast.AST) -> int:
    """Return the number of literal lists, sets, dicts and conditions of a file that name several verdicts.

    >>> lists_of_verdicts(ast.parse("a = (Verdict.OK, Verdict.FROZEN)\\nb = x is Verdict.OK or x is Verdict.FROZEN"))
    2
    """
    return sum(sum(map(_is_verdict, _members(node))) > 1 for node in ast.walk(tree))


def _members(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [*node.elts]
    if isinstance(node, ast.Dict):
        keys = sum(map(_is_verdict, node.keys))
        return [*node.keys] if keys > 1 else [*node.values]
    if isinstance(node, ast.BoolOp):
        return [each.comparators[0] for each in node.values if isinstance(each, ast.Compare)]
    return []


def _is_verdict(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Verdict"


def _docstrings() -> Iterator[str]:
    for _, node in definitions():
        text = ast.get_docstring(node, clean=False)
        if text:
            yield text.strip()


_COMMENT = re.compile(r"(?:^|\s)# (?!type:|noqa|pragma)")


def comments() -> float:
    """Return the percentage of lines with a comment, without directives, among the lines of code."""
    lines = [line for module in modules().values() for line in module.text.splitlines() if line.strip()]
    return round(100 * sum(_COMMENT.search(line) is not None for line in lines) / len(lines), 2)


def _public_names() -> int:
    import gradtool

    return len(dir(gradtool))


@cache
def _decisions() -> tuple[tuple[str, int], ...]:
    return tuple((module.name, decisions(function)) for module, function in functions(surface=True))


def _dense(room: str = "") -> int:
    prefix = f"gradtool.engine.{room}" if room else ""
    return sum(count > 10 for name, count in _decisions() if name.startswith(prefix))


FIGURES: Mapping[str, Callable[[], float]] = {
    "files in the largest circle of imports, those inside functions counted": lambda: len(circles()[0]),
    "imports inside functions": lambda: sum(each.where == "function" for each in imports()),
    "imports for types alone": lambda: sum(each.where == "types" for each in imports()),
    "public class names that stand in several files": lambda: len(repeated_classes()),
    "functions named by a participle or a preposition, Paddle's surface apart": lambda: sum(
        is_participle(f.name) for _, f in functions(surface=False)
    ),
    "docstrings that begin with What, Whether, Where or Which": lambda: sum(
        text.split(None, 1)[0].strip("`,.:;") in OPENERS for text in _docstrings() if text.split()
    ),
    "functions with more than 10 decisions": _dense,
    "functions in answers with more than 10 decisions": lambda: _dense("answers"),
    "literal lists of verdicts outside their definition": lambda: sum(
        lists_of_verdicts(module.tree)
        for module in modules().values()
        if "Verdict." in module.text and not module.name.endswith("why.verdicts")
    ),
    "% of lines that are no comment": lambda: round(100 - comments(), 2),
    "public names of gradtool": _public_names,
}
"""Name of a figure -> the figure; less is better for each."""


def bounds() -> dict[str, float]:
    """Return the bounds that the figures may not exceed."""
    loaded: dict[str, float] = json.loads(BOUNDS.read_text(encoding="utf-8"))
    return loaded


def main(words: list[str]) -> None:
    """Print each figure and its bound; with ``--renew``, lower the bounds."""
    known = bounds() if BOUNDS.exists() else {}
    figures = {name: figure() for name, figure in FIGURES.items()}
    for name, figure in figures.items():
        print(f"{figure:8g}  {name}" + (f" (bound {known[name]:g})" if name in known else ""))
    if "--renew" in words:
        lowered = {name: min(figure, known.get(name, figure)) for name, figure in figures.items()}
        BOUNDS.write_text(json.dumps(lowered, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
