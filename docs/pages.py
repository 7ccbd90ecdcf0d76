"""Pages of the site: the texts of this folder, what they link to elsewhere in the repository, and what is made.

A link leads to the same file on the site as in the repository, because files keep their paths: only their addresses
lose ``docs/``. A comment ``<!-- made: rules -->`` is where the rules of the gate stand on the site, made from the rules
themselves; ``commands``, ``errors``, ``schemas`` and ``python`` likewise.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import click

from gradtool.cli.commands import OF_A_MODEL, every, load, summary
from gradtool.engine.gate import rules
from gradtool.engine.questions import QUESTIONS

ROOT = Path(__file__).parents[1]
TEXTS = ("docs", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"(\]\()([^()\s#]+)((?:#[^()\s]*)?\))")
CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
ROLE = re.compile(r":(?:func|class|meth|mod|data|attr):`(~?)([\w.]+)`")
MADE = re.compile(r"^<!-- made: (\w+) -->$", re.MULTILINE)

PYTHON: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("gradtool.load", "gradtool.report", "gradtool.debug", "gradtool.breakpoint", "gradtool.why"), ()),
    **dict.fromkeys(
        ("gradtool.watching", "gradtool.paddle.static.append_backward", "gradtool.paddle.static.gradients"), ()
    ),
    **dict.fromkeys(("gradtool.paddle.grad", "gradtool.viz.graph", "gradtool.viz.pairs"), ()),
    **{
        f"gradtool.testing.assert_{what}": ()
        for what in ("all_parameters_get_gradients", "no_nan", "gradcheck", "graph_matches")
    },
    "gradtool.engine.kinds.model.Model": (
        *("backward", "gradients", "why", "where", "nan", "stats", "over_time", "flow", "saved", "profile"),
        *("fusion", "gradcheck", "operators", "graph", "select"),
    ),
    **{f"gradtool.engine.questions.{question}": () for question in sorted(QUESTIONS.values())},
    "gradtool.engine.request.options.Cuts": (),
    "gradtool.engine.core.answer.Answered": ("data", "findings"),
    "gradtool.engine.core.result.Result": ("show", "save", "to_pandas"),
    "gradtool.viz.picture.Picture": ("show", "save", "text", "html", "svg", "png", "pdf", "dot", "json", "mermaid"),
    "gradtool.paddle.Tensor": (
        *(
            "stop_gradient",
            "is_leaf",
            "grad",
            "backward",
            "gradient",
            "clear_gradient",
            "register_hook",
            "retain_grads",
        ),
        *("detach", "set_value", "name", "dtype", "inplace_version"),
    ),
}
"""What Python programs call of gradtool beside Paddle's own names -> of a class, its members that are told."""


def on_startup(**_: Any) -> None:
    """Write a package of what is documented, for mkdocstrings: signatures and docstrings under their public names.

    The names are loaded when they are used, so that they stand in no source in this form; and reading all sources would
    take a minute.
    """
    packages: dict[str, list[str]] = {}
    for name in PYTHON:
        package, _, attribute = name.rpartition(".")
        thing = getattr(importlib.import_module(package), attribute)
        source = ROLE.sub(_reference, textwrap.dedent(inspect.getsource(thing)))
        [definition] = ast.parse(source).body
        for outer in (package[: dot.start()] for dot in re.finditer(r"\.", package)):
            packages.setdefault(outer, [])
        packages.setdefault(package, []).append(ast.unparse(_told(definition, PYTHON[name])))
    folder = ROOT / "build" / "public_names"
    for package, sources in packages.items():
        file = folder / package.replace(".", "/") / "__init__.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n\n".join(["from __future__ import annotations", *sources]) + "\n", encoding="utf-8")


def _reference(role: re.Match[str]) -> str:
    """What a docstring names in Sphinx's way as a link where it is told of, else as it is called."""
    called = role[2].rpartition(".")[2] if role[1] else role[2]
    return f"[`{called}`][{role[2]}]" if role[2] in PYTHON else f"`{called}`"


def _told(definition: ast.stmt, members: tuple[str, ...]) -> ast.stmt:
    """A definition without its code: a signature with its docstring, and of a class those of *members*."""
    assert isinstance(definition, ast.FunctionDef | ast.ClassDef)
    [docstring, *inner] = definition.body
    definition.body = [docstring]
    if isinstance(definition, ast.ClassDef):
        definition.bases, definition.keywords, definition.decorator_list = [], [], []
        for each in inner:
            if isinstance(each, ast.FunctionDef) and each.name in members:
                each.body = each.body[:1]
                definition.body.append(each)
    else:
        definition.decorator_list = []
    return definition


def on_config(config: Any) -> Any:
    """Fill the parts of the navigation that are a folder."""
    folders = {"COOKBOOK": "docs/cookbook", "HOW": "docs"}
    placed = json.dumps(config["nav"])
    entries = {name: [page for page in _index(folder) if f'"{page}"' not in placed] for name, folder in folders.items()}
    config["nav"] = [_filled(entry, entries) for entry in config["nav"]]
    return config


def _index(folder: str) -> list[str]:
    """The pages that the index of a folder lists, in its order."""
    text = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    return [f"{folder}/{match[2]}" for line in rows if (match := LINK.search(line)) and match[2].endswith(".md")]


def _filled(entry: Any, entries: dict[str, list[str]]) -> Any:
    if isinstance(entry, str):
        return entry
    [(title, inner)] = entry.items()
    if isinstance(inner, str):
        return {title: entries.get(inner, inner)}
    return {title: [page for part in inner for page in entries.get(part, [part])]}


def on_files(files: Any, config: Any) -> Any:
    """Add the texts, and every file and folder that they link to."""
    from mkdocs.structure.files import File, InclusionLevel

    texts = [f for top in TEXTS for f in ([ROOT / top] if top.endswith(".md") else sorted((ROOT / top).rglob("*.md")))]
    linked = {target for text in texts for target in _targets(text)}
    for path in sorted({*texts, *linked}):
        uri = path.relative_to(ROOT).as_posix()
        if path.is_dir():
            page = File.generated(config, f"{uri}/FOLDER.md", content=_listing(path))
            page.dest_uri = f"{uri}/index.html"
            files.append(page)
        else:
            # Hidden folders would be left out otherwise.
            place = {"dest_uri": _address(uri), "inclusion": InclusionLevel.INCLUDED}
            files.append(File(uri, str(ROOT), config["site_dir"], False, **place))
    return files


def _targets(text: Path) -> Iterator[Path]:
    """Files and folders outside the texts that a text links to."""
    for match in LINK.finditer(CODE.sub("", text.read_text(encoding="utf-8"))):
        target = Path(os.path.normpath(text.parent / match[2]))
        if "://" not in match[2] and target.exists() and not (target.is_dir() and (target / "README.md").exists()):
            yield target


def _address(uri: str) -> str:
    """Where a file of the repository lands on the site."""
    place = PurePosixPath(uri.removeprefix("docs/"))
    if place.suffix != ".md":
        return str(place)
    return str(place.with_name("index.html") if place.name == "README.md" else place.with_suffix(".html"))


def _listing(folder: Path) -> str:
    """A folder as a page: what is in it."""
    lines = [f"- `{f.name}{'/' if f.is_dir() else ''}`" for f in sorted(folder.iterdir()) if f.name[0] not in "._"]
    return "\n".join([f"# {folder.relative_to(ROOT).as_posix()}", "", "A folder of the repository:", "", *lines, ""])


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put in what is made, and lead links to folders to their pages."""
    here = ROOT / PurePosixPath(page.file.src_uri).parent

    def led(match: re.Match[str]) -> str:
        target = here / match[2]
        if "://" in match[2] or not target.is_dir():
            return match[0]
        index = "README.md" if (target / "README.md").exists() else "FOLDER.md"
        return f"{match[1]}{match[2].rstrip('/')}/{index}{match[3]}"

    makers = {"commands": _commands, "rules": _rules, "schemas": _schemas, "python": _python, "errors": _errors}
    return MADE.sub(lambda match: "\n".join(makers[match[1]]()), LINK.sub(led, markdown))


def _commands() -> Iterator[str]:
    for name in every():
        command, typed = load(name), "MODEL" if name == OF_A_MODEL else name
        with click.Context(command, info_name=f"gradtool {name}", max_content_width=100) as context:
            lines = command.get_help(context).partition("\nOptions:\n")[0].splitlines()
            options = [row for option in command.get_params(context) if (row := option.get_help_record(context))]
        yield from (
            f"## gradtool {typed}",
            "",
            summary(name),
            "",
            "```text",
            *(line.rstrip() for line in lines),
            "```",
            "",
        )
        yield from _table(("option", "meaning"), [(f"`{flag}`", meaning) for flag, meaning in options])


def _rules() -> Iterator[str]:
    for rule in rules.every().values():
        usual = f"{rule.severity.name.lower()}"
        yield from (f"## {rule.code} {rule.name}", "", f"{rule.summary} *{usual}*", "", rule.why, "")
        options = [(f"`{name}`", f"{value:g}", meaning) for name, (value, meaning) in rule.options.items()]
        if options:
            yield from _table(("option", "value", "meaning"), options)
        for title, source in (("Wrong", rule.wrong), ("Right", rule.right)):
            if source:
                yield from (f"{title}:", "", "```python", source.rstrip(), "```", "")


def _errors() -> Iterator[str]:
    for file in sorted((ROOT / "cli" / "guide" / "errors").glob("*.md")):
        yield re.sub(r"^#", "##", file.read_text(encoding="utf-8"), flags=re.MULTILINE)


def _schemas() -> Iterator[str]:
    for file in sorted((ROOT / "cli" / "schemas").glob("*.json")):
        schema = json.loads(file.read_text(encoding="utf-8"))
        yield from (f"## {file.stem}", "", schema.get("description", ""), "", f"`{schema.get('title', file.stem)}`", "")
        required = schema.get("required", [])
        fields = sorted(schema.get("properties", {}).items())
        rows = [(f"`{k}`", _kind(v), "" if k in required else "optional", v.get("description", "")) for k, v in fields]
        if rows:
            yield from _table(("field", "type", "", "meaning"), rows)


def _kind(schema: dict[str, Any]) -> str:
    """What a field of a file holds, in a word or two."""
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    kind = schema.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _python() -> Iterator[str]:
    for name, members in PYTHON.items():
        yield from (f"::: {name}", "    options:", f"      heading: {name}", f"      toc_label: {name}")
        yield from ([f"      members: [{', '.join(members)}]"] if members else [])
        yield ""


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "--|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
    yield ""
