"""Comparing what two runs wrote about their tensors."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from gradtool.engine.core.errors import NotFound, UsageError
from gradtool.engine.files.writing import write_files

LINE = re.compile(
    r"\[PRECISION\](?: \[ERROR\])? in \[device=\w+, op=(?P<op>[\w.]*), tensor=(?P<tensor>.*?), dtype=(?P<dtype>\w+)\], "
    r"numel=(?P<numel>\d+)(?:, num_nan=(?P<nan>\d+), num_inf=(?P<inf>\d+))?, num_zero=(?P<zero>\d+), "
    r"max=(?P<max>\S+), min=(?P<min>\S+), mean=(?P<mean>\S+)"
)


class MissingDump(NotFound, UsageError):
    """A folder without anything that was written about tensors."""


class ComparedTensor(NamedTuple):
    """Row written about a tensor."""

    op: str
    dtype: str
    numel: int
    nan: int
    inf: int
    largest: float
    smallest: float
    mean: float


HEAD = (
    *("number", "op", "dtype", "numel", "nan", "inf", "max", "min", "mean"),
    *("other dtype", "other nan", "other inf", "other max", "other min", "other mean", "finding"),
)


def compare_accuracy(
    dump_path: str,
    another_dump_path: str,
    output_filename: str,
    loss_scale: float = 1,
    dump_all_tensors: bool = False,
) -> None:
    """Compare what two runs wrote with ``TensorCheckerConfig(debug_mode=DebugMode.CHECK_ALL, output_dir=...)``.

    Args:
        dump_path: the folder of the run in float32.
        another_dump_path: that of the run in narrow numbers.
        output_filename: the table to write, an ``.xlsx`` file; text between commas where the name ends in ``.csv``.
        loss_scale: what the losses of the second run were multiplied by; its gradients are divided by it.
        dump_all_tensors: False leaves out tensors in which nothing is found; in Paddle it must be False.

    Raises:
        MissingDump: nothing is written in a folder.
        UsageError: another ending, or the runs computed different operators.
    """
    first, second = (_read(path) for path in (dump_path, another_dump_path))
    rows = _rows(first, second, loss_scale, dump_all_tensors)
    folder = os.path.dirname(output_filename)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if output_filename.endswith(".csv"):
        text = "\n".join(",".join(row) for row in (HEAD, *rows)) + "\n"
        write_files({output_filename: [text.encode()]})
    elif output_filename.endswith(".xlsx"):
        _write_workbook(output_filename, (HEAD, *rows))
    else:
        raise UsageError(f"compare_accuracy writes .xlsx and .csv, and the file is to be {output_filename!r}.")


def _read(folder: str) -> list[ComparedTensor]:
    names = sorted(n for n in os.listdir(folder) if n.endswith(".log")) if os.path.isdir(folder) else []
    entries = []
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            entries += [_entry(match) for line in file if (match := LINE.match(line))]
    if not entries:
        raise MissingDump(
            f"nothing is written about tensors in {folder!r}.",
            hint="run with TensorCheckerConfig(enable=True, debug_mode=DebugMode.CHECK_ALL, output_dir=...)",
        )
    return entries


def _entry(match: re.Match[str]) -> ComparedTensor:
    part = match.groupdict(default="0")
    numbers = (float(part[name]) for name in ("max", "min", "mean"))
    return ComparedTensor(part["op"], part["dtype"], int(part["numel"]), int(part["nan"]), int(part["inf"]), *numbers)


def _rows(
    first: Sequence[ComparedTensor], second: Sequence[ComparedTensor], scale: float, everything: bool
) -> list[tuple[str, ...]]:
    """A row for each pair of tensors: the runs are the same but for casts, which are left out."""
    left, right = ([e for e in entries if not e.op.startswith("cast")] for entries in (first, second))
    rows = []
    for number, (a, b) in enumerate(zip(left, right, strict=False)):
        if (a.op, a.numel) != (b.op, b.numel):
            raise UsageError(
                f"the runs differ at tensor {number}: {a.op} of {a.numel} elements, and {b.op} of {b.numel}.",
                hint="run the same script with the same data, with and without auto_cast",
            )
        by = scale if b.op.endswith("_grad") else 1
        finding = _finding(a, b)
        if finding or everything:
            numbers = (f"{v / by:.6e}" for v in (b.largest, b.smallest, b.mean))
            own = (str(number), a.op, a.dtype, str(a.numel), str(a.nan), str(a.inf))
            rows.append(
                (
                    *own,
                    *(f"{v:.6e}" for v in (a.largest, a.smallest, a.mean)),
                    b.dtype,
                    str(b.nan),
                    str(b.inf),
                    *numbers,
                    finding,
                )
            )
    return rows


def _finding(a: ComparedTensor, b: ComparedTensor) -> str:
    if b.nan > a.nan or b.inf > a.inf:
        return "not finite in the second run alone"
    if a.nan or a.inf:
        return "not finite in both"
    if a.mean != 0 and b.largest == b.smallest == 0:
        return "zeros in the second run alone"
    return ""


def _write_workbook(name: str, rows: Sequence[Sequence[str]]) -> None:
    """A workbook of one sheet of texts: a ZIP file of a few small XML files."""
    spread = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    parts = {
        "[Content_Types].xml": (
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/></Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": (
            f'<workbook xmlns="{spread}" xmlns:r="{office}"><sheets><sheet name="accuracy" sheetId="1" r:id="rId1"/>'
            "</sheets></workbook>"
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{office}/worksheet" '
            'Target="worksheets/sheet1.xml"/></Relationships>'
        ),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{spread}"><sheetData>{cells}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as book:
        for part, text in parts.items():
            book.writestr(zipfile.ZipInfo(part), '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' + text)


def _cell(text: str) -> str:
    return f'<c t="inlineStr"><is><t>{escape(text)}</t></is></c>'
