"""``gradtool why``: why a gradient is None or zero."""

from __future__ import annotations

from math import isfinite
from typing import Any

import click

from gradtool.models.wording import command_line, count, repeated

from ..context import Output, backward_options, loading_options, output_options, run_options
from ..views import Report, Table


@click.command("why")
@click.argument("words", nargs=-1, required=True, metavar="[VAR]... MODEL")
@loading_options
@backward_options
@click.option("--contributions", is_flag=True, help="What each use of a shared tensor adds to its gradient.")
@click.option("--prove", is_flag=True, help="Run again without the cut, and say what the gradient is then.")
@click.option(
    "--error", "error_", is_flag=True, help="Explain the error that backward raises: freed or overwritten values."
)
@click.option("--no-run", is_flag=True, help="Look at the graph alone: do not run a static program.")
@run_options
@output_options
def command(**options: Any) -> int:
    """Why each VAR of MODEL has no gradient, or a zero one; without VAR, every parameter that has none.

    \b
    gradtool why my_fc.b_0 model.py
    gradtool why model.py
    gradtool why 'encoder.*' model.py --prove

    The verdict, the way from the loss with the place where it is cut, the line, and what would connect it. A static
    program is run once if a gradient has to be looked at.
    """
    out = Output.take(options)
    from gradtool.models import cases
    from gradtool.models.loader import Request

    *names, options["model"] = _words(options.pop("words"))
    options["run_"] = not options["no_run"]
    seed = options["seed"]
    request = Request.take(options, journal=True, post_mortem=True)
    options["seed"] = seed
    words = request.words()
    words += [*repeated("--no-grad", options["no_grad"]), *repeated("--params", options["params"])]
    with cases.opened(request, names, options, out) as found:
        if found.failure is not None:
            out.emit(report(found, [found.failure], 0, words))
            return 0 if options["error_"] else 4
        if options["error_"]:
            from gradtool.models.errors import CommandError

            if found.error is not None:
                raise found.error
            raise CommandError(f"{found.name} raised no error", f"for its gradients: gradtool why {request.model}")
        if found.error is not None:
            out.note(
                f"{found.name} raised: {str(found.error).splitlines()[0]}; told is what it had computed until then"
            )
        case = found.case
        assert case is not None
        subjects = case.subjects()
        if found.chosen:
            answers = [case.answer(s, contributions=options["contributions"]) for s in subjects]
        else:
            answers = case.answers()
        found.case = None
    if options["prove"]:
        from gradtool.models.proving import proved

        answers = [proved(a, request, options, out) for a in answers]
    out.emit(report(found, answers, len(subjects), words))
    return 0


def _words(words: tuple[str, ...]) -> list[str]:
    """The variables, then the model: the last word, or the first one if only that is a model."""
    from gradtool.models.loader import is_model

    if len(words) > 1 and not is_model(words[-1]) and is_model(words[0]):
        return [*words[1:], words[0]]
    return list(words)


def report(found: Any, answers: list[Any], subjects: int, words: list[str]) -> Report:
    """The answer of ``gradtool why``.

    Args:
        found: what ``cases.opened`` gave.
        subjects: how many tensors were asked about.
        words: those that load the same model.
    """
    wrong = sum(a.finding for a in answers)
    without = sum(1 + len(a.also) for a in answers if a.verdict.name != "OK")
    data = {
        "model": found.name,
        "mode": found.mode,
        "loss": found.loss,
        "answers": [a.data() for a in answers],
        "findings": wrong,
        "asked": subjects,
    }
    lines = []
    frozen = [] if found.chosen else [a for a in answers if a.verdict.name == "FROZEN" and not a.finding]
    for a in answers:
        if a not in frozen:
            lines += [*a.lines(), ""]
    if frozen:
        lines += [_frozen(frozen), ""]
    if found.failure is None and not found.chosen:
        lines.append(_summary(subjects, without, wrong))
    elif lines:
        lines.pop()
    table = Table(["tensor", "verdict", "finding", "source", "code", "why", "the same for"])
    for a in answers:
        said = "; ".join(a.said)
        table.rows.append([a.name, a.label, "yes" if a.finding else "no", a.source, a.code, said, ", ".join(a.also)])
    return Report("why", data, ["\n".join(lines)], _next(found, answers, words), table)


_NAMED = 3
"""Names of frozen parameters that are listed, of as many as there are."""


def _frozen(answers: list[Any]) -> str:
    """Nothing is wrong with these: they share a few lines."""
    names = [n for a in answers for n in (a.name, *a.also)]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    lines = dict.fromkeys(a.source for a in answers if a.source)
    return "\n".join(
        [
            f"frozen on purpose, no finding: {', '.join(names[:_NAMED])}{more}",
            *([f"  made at {', '.join(lines)}"] if lines else []),
        ]
    )


def _summary(subjects: int, without: int, wrong: int) -> str:
    if not subjects:
        return "no parameters"
    findings = count(wrong, "finding") if wrong else "no findings"
    got = subjects - without
    return f"{got} of {count(subjects, 'parameter')} get{'s' if subjects == 1 else ''} a gradient · {findings}"


def _next(found: Any, answers: list[Any], words: list[str]) -> list[str]:
    first = next((a for a in answers if a.finding), answers[0] if answers and found.chosen else None)
    if first is None or found.failure is not None:
        return [command_line("gradtool", "backward", *words)]
    told = [command_line("gradtool", "where", f"line:{first.source}", *words)] if first.source else []
    if first.gradient is not None and not isfinite(first.gradient["norm"]):
        told.insert(0, command_line("gradtool", "nan", *words))
    if not found.chosen:
        return [command_line("gradtool", "why", first.name, *words), *told]
    return [*told, command_line("gradtool", "backward", *words)]
