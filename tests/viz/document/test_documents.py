"""Documents in every form: what each form makes of each kind of block, and that nothing in a block can do harm."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core.errors import FileFormatError
from gradtool.viz.debugger.cell import Cell
from gradtool.viz.debugger.saved import writer
from gradtool.viz.document import session
from gradtool.viz.document.blocks import Commands, Data, Document, Excerpt, Figure, Lines, Prose, Section
from gradtool.viz.document.html import to_html
from gradtool.viz.document.ipynb import to_ipynb
from gradtool.viz.document.markdown import to_markdown
from gradtool.viz.document.safe import harmless
from gradtool.viz.document.script import to_script
from gradtool.viz.table import TextTable

GOLDEN = Path(__file__).parent / "golden"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>\n'
CELLS = [
    Cell(1, "# where is it born?", note=True),
    Cell(2, "c", "■ catch inf at sqrt_grad.0   model.py:7"),
    Cell(3, "rs 2", "◀ 5/12 relu_grad.0"),
    Cell(4, "ins[0].shape", "(3, 4)", html="<table><tr><td>3</td><td>4</td></tr></table>"),
    Cell(5, "p nothing", "NameError: no tensor 'nothing'", failed=True),
    Cell(6, "for i in range(2):\n    print(i)", "0\n1"),
    Cell(7, "l", "a picture", svg=SVG),
]


def document() -> Document:
    """One block of every kind."""
    return Document(
        "Report of a_model.py",
        (("model", "a_model.py"), ("loss", "loss = 0.5")),
        (
            Section(
                "verdict",
                "Verdict",
                (
                    Prose("One *sentence* about `w_0` & <b>."),
                    Lines("w_0   grad = None\n  loss ←✂─ w_0"),
                    Commands(("gradtool why w_0 a_model.py", "echo `id`")),
                ),
                'report["verdict"]',
            ),
            Section(
                "gradients",
                "Gradients",
                (
                    TextTable(
                        "",
                        ["parameter", "max |g|", "status"],
                        [["w_0", "1", "ok"], ["b|0", "–", "cut"]],
                        {"ok": "good"},
                    ),
                ),
                'report["gradients"]',
            ),
            Section(
                "picture", "Picture", (Figure(SVG, "w_0 → loss", "flowchart TB\n", "All of it."),), 'report["picture"]'
            ),
            Section(
                "source",
                "Source",
                (
                    Excerpt(
                        "a_model.py:2",
                        "relu.0 ↔ relu_grad.0",
                        ((1, "x = f()"), (2, "y = relu(x)")),
                        2,
                        ('File "m.py"',),
                    ),
                ),
            ),
            session.section(CELLS, "a_model.py"),
            Section("json", "JSON", (Data('{"a":"```"}\n', "for programs"),), 'report["json"]'),
        ),
        'import gradtool\n\nreport = gradtool.report("a_model.py")',
        "It runs again.",
    )


FORMS: dict[str, Callable[[], str]] = {
    "document.html": lambda: to_html(document()),
    "document.ipynb": lambda: to_ipynb(document()),
    "document.md": lambda: to_markdown(document()),
    "session.gdt": lambda: to_script(CELLS),
    "document.txt": lambda: str(document()) + "\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form(name: str) -> None:
    text = FORMS[name]()
    assert text == FORMS[name]()
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_notebook_is_valid_and_its_ids_are_stable() -> None:
    notebook = nbformat.reads(to_ipynb(document()), as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    ids = [c.id for c in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert ids[:4] == ["title", "begin", "verdict", "verdict-code"]
    by_id = {c.id: c for c in notebook.cells}
    assert [by_id[f"cell-{n}"].source for n in (2, 3, 4)] == ["%gcontinue", "%gback 2", "%g ins[0].shape"]
    assert by_id["cell-6"].source == "%%g\nfor i in range(2):\n    print(i)"
    assert by_id["session-code"].source == "%load_ext gradtool\n%gdebug a_model.py"
    assert (by_id["cell-1"].source, by_id["cell-1"].metadata["jupyter"]) == (
        "%%g\nnote # where is it born?",
        {"source_hidden": True},
    )
    assert by_id["cell-1"].outputs[0].data["text/markdown"] == "# where is it born?"
    failed = by_id["cell-5"]
    assert failed.metadata["tags"] == ["raises-exception"]
    assert (failed.outputs[0].output_type, failed.outputs[0].ename) == ("error", "Failed")
    assert by_id["picture-code"].outputs[0].data["image/svg+xml"] == SVG
    assert "▶ 2 │ y = relu(x)" in by_id["source-text"].source


def test_one_section_and_one_session() -> None:
    report = document()
    assert report["gradients"].title == "Gradients"
    assert set(report["picture"]._repr_mimebundle_()) == {"text/plain", "image/svg+xml"}
    assert set(report["json"]._repr_mimebundle_()) == {"text/plain"}
    assert "sandbox" in report._repr_mimebundle_()["text/html"]
    with pytest.raises(KeyError, match="did you mean 'verdict'"):
        report["verdit"]
    hunt = session.document(CELLS, "a_model.py")
    assert hunt.title == "Session of a_model.py"
    assert "In [3]: rs 2" in to_markdown(hunt)


def test_saving_by_the_ending(tmp_path: Path) -> None:
    for ending in ("html", "ipynb", "md"):
        document().save(tmp_path / f"d.{ending}")
    assert (tmp_path / "d.md").read_text(encoding="utf-8") == to_markdown(document())
    with pytest.raises(ValueError, match=r"one of \.html, \.htm, \.ipynb, \.md"):
        document().save(tmp_path / "d.pdf")


HOSTILE = [
    "<script>alert(1)</script>",
    "</pre></section><img src=x onerror=alert(1)>",
    "```\n<script>alert(1)</script>",
    "![x](http://example.com/a.png)",
    '"><a href="javascript:alert(1)">',
    "\x1b[31m\x00\u2028\ud800",
    "w" * 10_000,
]


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.said = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.said += data


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text_in_every_form(name: str) -> None:
    cells = [Cell(1, name, name, name, failed=False), Cell(2, name, name, failed=True), Cell(3, f"set {name} = 1")]
    blocks = (
        Prose(name),
        Lines(name),
        TextTable(name, [name], [[name]]),
        Figure(SVG, name, "", name),
        Excerpt(name, name, ((1, name),), 1, (name,)),
        Commands((name,)),
        Data(name.replace("\ud800", ""), name),
        *cells,
    )
    report = Document(name, ((name, name),), (Section("all", name, blocks),))
    page = Elements(to_html(report))
    assert "script" not in page.tags
    assert [v for n, v in page.attributes if n == "href"] == ["#content"]
    assert not [n for n, _ in page.attributes if n.startswith("on")]
    assert all(v is not None and v.startswith("data:image/svg+xml") for n, v in page.attributes if n == "src")
    assert page.tags.count("section") == page.tags.count("h1") == 1
    assert not set(page.said) & {"\x00", "\x1b", "\u2028"}
    notebook = nbformat.reads(to_ipynb(report).encode("utf-8", "backslashreplace").decode(), as_version=4)
    nbformat.validate(notebook)
    fences = [line for line in to_markdown(report).split("\n") if line.startswith("```")]
    assert len(fences) % 2 == (1 if name.startswith("```") else 0), "what is inside a longer fence does not end it"
    assert to_script([Cell(1, "a\nb", note=True)]) == "# a\n# b\n"


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<table><tr><td>1 &lt; 2</td></tr></table>", "<table><tr><td>1 &lt; 2</td></tr></table>"),
        ("<script>alert('<b>')</script>x", "x"),
        ("<p onclick='alert(1)' title='a\"b'>x", '<p title="a&quot;b">x</p>'),
        ("</div></main>x", "x"),
        ("<b><i>x</b>y</i>", "<b><i>x</i></b>y"),
        ("<meta http-equiv=refresh content='0;url=http://e'><base href=x><form action=x><input></form>", ""),
        ("<a href='javascript:1'>x</a><img src='http://e/x'>", "x"),
        ("<svg><style>p{}</style></svg>a<style>p{}</style>b", "ab"),
        ("<!-- <p> --><br/>&amp;", "<br>&amp;"),
        ("<iframe srcdoc='<script>1</script>'>x", ""),
    ],
)
def test_html_of_other_origin(html: str, left: str) -> None:
    assert harmless(html) == left


def test_verbs_become_magics_and_python_runs_in_the_session() -> None:
    """A word is a verb until the session gives that name to something else, as at the debugger's own prompt."""
    lines = ["n", "rs 2", "s", "n = 3", "n - 1", "set x@GRAD = np.zeros(3)", "list(v)", "! step", "p w[0:2]"]
    cells = [Cell(i, line) for i, line in enumerate(lines)]
    notebook = nbformat.reads(to_ipynb(session.document(cells, "m.py")), as_version=4)
    sources = [c.source for c in notebook.cells if c.id.startswith("cell-")]
    assert sources == [
        "%gnext",
        "%gback 2",
        "%gstep",
        "%g n = 3",
        "%g n - 1",
        "%gset x@GRAD = np.zeros(3)",
        "%g list(v)",
        "%g ! step",
        "%gp w[0:2]",
    ]


def test_the_first_cell_of_a_session_names_its_files_from_where_the_notebook_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("my model.py", "f.npz", "model.py"):
        (tmp_path / name).touch()

    def opening(model: str) -> str:
        return session.relative_section(session.section([], model), "sub/hunt.ipynb").code.split("\n")[1]

    assert opening("'my model.py:build' --feed f.npz") == "%gdebug '../my model.py:build' --feed ../f.npz"
    assert opening("model.py --watch 'v[\"w\"] - {1}'") == "%gdebug ../model.py --watch 'v[\"w\"] - {{1}}'"
    assert opening("pkg.mod:build") == "%gdebug pkg.mod:build"
    assert "compute In[3] in a cell above" in session.document([], "In[3] --catch nan").intro
    assert session.document([], "model.py --catch nan").intro == ""


def test_the_cells_of_a_saved_session() -> None:
    w = paddle.to_tensor([4.0], stop_gradient=False)
    book = gradtool.debug(paddle.sqrt(w).sum(), prompt=False)
    book.model = "model.py --catch nan"
    for line in ("note what?", "step", "p nothing", "1 + 1"):
        book.execute(line)
    reread = session.from_jsonl(writer.text(book), "s.jsonl")
    assert reread == session.KeptSession("model.py --catch nan", book.cells)
    assert session.from_jsonl(writer.text(book) + "\n\n", "s.jsonl") == reread


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "it is empty"),
        (["nonsense"], "line 1 is not|s.jsonl, line 1"),
        (["[1]"], "it is list"),
        (['{"schema":"gradtool/why/1"}'], "it is 'gradtool/why/1'"),
        ([{}, {"kind": "cell", "number": 1}], "a cell with 'source'"),
        ([{}, {"kind": "cell", "number": True, "source": "c"}], "'number' as int, but it is bool"),
        ([{}, {"kind": "cell", "number": 1, "source": "c", "svg": 3}], "'svg' as str or null"),
        ([{}, {"kind": "run", "model": 3}], "'model' as str, but it is int"),
        ([{}, *[{"kind": "cell", "number": 1, "source": "c"}] * 2], "1 stands twice"),
        (['{"schema":"gradtool/session/1","schema":"x"}'], "comes twice"),
        (["[" * 100_000], "nested too deeply"),
    ],
)
def test_what_is_no_session(lines: list[str | dict[str, object]], said: str) -> None:
    texts = [t if isinstance(t, str) else json.dumps(t or {"schema": session.FORMAT}) for t in lines]
    with pytest.raises(FileFormatError, match=said):
        session.from_jsonl("\n".join(texts), "s.jsonl")


def test_pictures_fit_the_page_unless_they_are_too_wide_to_be_read() -> None:
    drawn = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="10"></svg>'
    narrow, wide = (
        to_html(Document("a", (), (Section("s", "S", (Cell(1, "graph", "a\nb", svg=drawn.format(width)),)),)))
        for width in (1200, 5000)
    )
    assert 'class="large"' not in narrow
    assert '<img class="large"' in wide
    assert "<details><summary>as text</summary><pre>a\nb</pre></details>" in wide
