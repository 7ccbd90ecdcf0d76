"""End of the help of a command: three examples on the sample models, its exit codes, its page in the cookbook.

The examples run as they stand where ``gradtool self samples copy all .`` has been; tests run them.
"""

from __future__ import annotations

from gradtool.engine.core.records import dataclass

_ASKED = "with --exit-code a finding"
_ALWAYS = "a finding"


@dataclass(frozen=True)
class Guidance:
    """End of the help of one command.

    Attributes:
        examples: command lines without ``gradtool``.
        failed: what exit code 1 means; empty where the command never ends with it.
        page: the page of the cookbook.
        runs: whether it runs a model, which may raise.
    """

    examples: tuple[str, str, str]
    page: str = "README"
    failed: str = ""
    runs: bool = True


TABLE: dict[str, Guidance] = {
    "checkup": Guidance(
        ("missing_gradient.py", "nan_gradient.py --format json", "training.py --exit-code"), failed=_ASKED
    ),
    "backward": Guidance(
        ("backward missing_gradient.py", "backward static_program.py --run", "backward training.py --list"),
        "gradient_is_none",
        _ASKED,
    ),
    "why": Guidance(
        (
            "why missing_gradient.py",
            "why zero_gradient.py --exit-code",
            "why model.right.weight missing_gradient.py --prove",
        ),
        "gradient_is_none",
        _ASKED,
    ),
    "nan": Guidance(("nan nan_gradient.py", "nan training.py", "nan nan_gradient.py --format json"), "nan", _ALWAYS),
    "stats": Guidance(
        ("stats missing_gradient.py", "stats training.py --steps 20", "stats training.py --by layer"),
        "vanishing_and_exploding",
        _ASKED,
    ),
    "stats --memory": Guidance(
        ("stats --memory static_program.py", "stats --memory training.py", "stats --memory training.py --format tsv"),
        "what_is_saved",
    ),
    "stats --time": Guidance(
        (
            "stats --time static_program.py",
            "stats --time training.py --by layer",
            "stats --time training.py --by type",
        ),
        "time_per_layer",
    ),
    "check": Guidance(
        ("check missing_gradient.py", "check training.py --select GT1", "check nan_gradient.py --exit-zero"),
        "unused_parameters",
        "a finding as severe as --fail-on says",
    ),
    "gradcheck": Guidance(
        ("gradcheck wrong_backward.py", "gradcheck static_program.py", "gradcheck wrong_backward.py --format json"),
        "custom_backward_wrong",
        "a gradient that is wrong",
    ),
    "flow": Guidance(
        ("flow static_program.py", "flow static_program.py --format tsv", "flow static_program.py --format json"),
        "detach_and_numpy",
    ),
    "graph": Guidance(
        (
            "graph static_program.py -o graph.html",
            "graph missing_gradient.py -o graph.svg --collapse layer",
            "graph static_program.py --format mermaid",
        ),
        "unreadable_pictures",
    ),
    "graph --text": Guidance(
        (
            "graph --text static_program.py",
            "graph --text static_program.py --part bwd",
            "graph --text training.py --source",
        ),
        "text_dump",
    ),
    "graph --pairs": Guidance(
        (
            "graph --pairs static_program.py",
            "graph --pairs training.py",
            "graph --pairs static_program.py --format markdown",
        ),
        "text_dump",
    ),
    "graph --dump": Guidance(
        (
            "graph --dump dumped static_program.py",
            "graph --dump graphs missing_gradient.py",
            "graph --dump dumps training.py --format json",
        ),
        "missing_names",
    ),
    "graph --where": Guidance(
        (
            "graph --where mean_0.tmp_0 static_program.py",
            "graph --where line:missing_gradient.py:19 missing_gradient.py",
            "graph --where op:sqrt_grad nan_gradient.py",
        ),
        "line_of_a_backward_operator",
    ),
    "diff": Guidance(
        (
            "diff static_program.py training.py",
            "diff training.py training.py --exit-code",
            "diff missing_gradient.py zero_gradient.py --format json",
        ),
        "two_versions_disagree",
        "with --exit-code a change",
    ),
    "debug": Guidance(
        (
            "debug nan_gradient.py --catch nan",
            "debug training.py --step 3",
            "debug static_program.py",
        ),
        "stepping_inside_backward",
        "with --batch a catch that fires or an expect that fails",
    ),
    "export": Guidance(
        (
            "export static_program.py -o net.pdmodel",
            "export static_program.py -o whole.pdmodel --format json",
            "export static_program.py -o quiet.pdmodel --quiet",
        ),
        "two_versions_disagree",
    ),
    "explain": Guidance(("explain GT-E205", "explain detached", "explain gradient is none"), runs=False),
    "explain --codes": Guidance(
        ("explain --codes", "explain --codes --format tsv", "explain --codes --format json"), runs=False
    ),
    "explain --ops": Guidance(
        ("explain --ops", "explain --ops --format tsv", "explain --ops --format json"),
        "operator_without_gradient",
        runs=False,
    ),
    "explain --rules": Guidance(
        ("explain --rules", "explain --rules --format tsv", "explain --rules --format json"),
        "unused_parameters",
        runs=False,
    ),
    "sweep": Guidance(
        (
            "sweep nan nan_gradient.py --seeds 0,1",
            "sweep stats zero_gradient.py --seeds 0,1",
            "sweep nan training.py --seeds 0,1 --format json",
        ),
        "nan",
        _ALWAYS,
    ),
    "report": Guidance(
        (
            "report missing_gradient.py --html report.html",
            "report static_program.py --md report.md",
            "report training.py --ipynb report.ipynb",
        ),
        "gradient_is_none",
    ),
    "gradients": Guidance(
        (
            "gradients static_program.py --target mean_0.tmp_0",
            "gradients static_program.py --target head.tmp_1 --input x",
            "gradients static_program.py --target mean_0.tmp_0 --format tsv",
        ),
        "non_leaf_gradient",
    ),
    "self": Guidance(("self version", "self samples", "self config"), runs=False),
    "self cache": Guidance(("self cache", "self cache clear", "self cache --format json"), runs=False),
    "self completion": Guidance(
        ("self completion bash", "self completion zsh", "self completion fish -o gradtool.fish"), runs=False
    ),
    "self config": Guidance(("self config", "self config why", "self config --schema"), runs=False),
    "self man": Guidance(("self man", "self man why", "self man -o man1"), runs=False),
    "self samples": Guidance(
        ("self samples", "self samples show training", "self samples copy training models"), runs=False
    ),
    "self version": Guidance(("self version", "self version -v", "self version --format json"), runs=False),
}


def epilog(name: str) -> str:
    """The end of a command's help, as click takes it."""
    entry = TABLE.get(name)
    if entry is None:
        return ""
    codes = ["0 answered", f"1 {entry.failed}" if entry.failed else "", "2 usage"]
    codes += ["3 the model raised", "4 refused"] if entry.runs else []
    codes += ["70 a bug of gradtool", "130 interrupted"]
    lines = ["\b", "Examples, on the files of gradtool self samples copy all .:"]
    lines += [f"  gradtool {example}" for example in entry.examples]
    lines += ["", f"Exit codes: {' · '.join(filter(None, codes))}", "", f"Cookbook: docs/cookbook/{entry.page}.md"]
    return "\n".join(lines)
