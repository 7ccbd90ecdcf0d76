"""Options that a configuration file may set: one table, and each option of each command has a class in it.

A file lies in a folder that somebody may have downloaded. It may say how an answer looks and what is asked. The paths
that it names lie below its own folder. It never names a host, a program, a model to run or an expression, and it never
says that files are overwritten: ``cd FOLDER && gradtool why net.pdmodel`` does nothing but look at that file.

An option without a class is refused like one of the last kind, and a test fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from gradtool.engine.core.records import dataclass

Form = Literal["path", "form", "rows", "batch", "glob"]
"""How a path stands in a value: alone, behind ``FORM=``, before ``[ROWS]``, before ``:BATCH``, as a glob."""


@dataclass(frozen=True)
class Harmless:
    """The option says what is asked, or how an answer looks."""


@dataclass(frozen=True)
class Inside:
    """The option names a file or a folder, which has to lie below the folder of the configuration file.

    Attributes:
        writes: whether something is written there.
    """

    form: Form = "path"
    writes: bool = False


@dataclass(frozen=True)
class Never:
    """No file sets the option.

    Attributes:
        why: for the message.
    """

    why: str


Class = Harmless | Inside | Never

HARMLESS: Final = Harmless()
READ: Final = Inside()
WRITTEN: Final = Inside(writes=True)

_LIES: Final = ", which a file that lies in a folder may not say"

CLASSES: Final[Mapping[str, Class]] = {
    # -- harmless: what is asked of a model, and of how much of it
    **dict.fromkeys(
        (
            *("arg", "backward", "by", "contributions", "error", "forward-only", "from", "fused", "grads"),
            *(
                "held",
                "histogram",
                "input",
                "label",
                "list",
                "loss",
                "loss-fn",
                "mode",
                "no-grad",
                "no-run",
                "only-grads",
            ),
            *("order", "params", "part", "path", "prove", "run", "seed", "seeds", "set", "source", "step"),
            *("steps", "subnormal", "target", "target-grad", "to", "train", "values", "worst", "top"),
            *(
                "big",
                "catch",
                "blocks",
                "focus",
                "radius",
                "resources",
                "checkpoints",
                "memory-budget",
                "mesh",
                "history",
            ),
        ),
        HARMLESS,
    ),
    # -- harmless: how much time, memory and how many processors it takes, and what computes it
    **dict.fromkeys(
        (
            *("against", "backend", "device", "dtype", "jobs", "limit", "memory", "precision", "repeats", "threads"),
            *("timeout", "no-cache", "resume"),
        ),
        HARMLESS,
    ),
    # -- harmless: which rules hold, and what decides the exit code
    **dict.fromkeys(
        (
            "extend-select",
            "ignore",
            "select",
            "exit-code",
            "exit-zero",
            "fail-on",
            "batch",
            "check",
            "on-error",
            "check.watch",
        ),
        HARMLESS,
    ),
    # -- harmless: how an answer looks
    **dict.fromkeys(
        (
            *("all", "ascii", "collapse", "color", "dot-limit", "format", "layout", "max-nodes", "quiet", "schema"),
            *("show-files", "stamp", "stdin-filename", "title", "verbose"),
        ),
        HARMLESS,
    ),
    # -- paths below the folder
    **dict.fromkeys(
        (
            *("output", "dot", "dump", "flame", "html", "ipynb", "md", "tensorboard", "write-golden", "results"),
            *("baseline", "golden", "cache-dir"),
        ),
        WRITTEN,
    ),
    "out": Inside("form", writes=True),
    **dict.fromkeys(("replay", "session"), READ),
    "feed": Inside("rows"),
    "rows": Inside("batch"),
    "over": Inside("glob"),
    # -- never
    "callbacks": Never(f"it runs code{_LIES}"),
    "scripts": Never(f"it carries out verbs{_LIES}"),
    "trust": Never(f"it says whom to trust{_LIES}"),
    "scheduler": Never(f"it names a host that models and answers go to{_LIES}"),
    "models": Never(f"it names models, which are run{_LIES}"),
    "as-module": Never(f"it makes a name a module, which is run{_LIES}"),
    "engine": Never(f"it names a program that is started{_LIES}"),
    "open": Never(f"it starts a browser{_LIES}"),
    "debug.watch": Never(f"it is an expression, which is evaluated{_LIES}"),
    "break": Never(f"it may hold an expression, which is evaluated{_LIES}"),
    "write": Never(f"it lets a model change files{_LIES}"),
    "update": Never(f"it has golden files overwritten{_LIES}"),
    "write-baseline": Never(f"it has a baseline overwritten{_LIES}"),
}
"""By the key of an option, or ``COMMAND.KEY`` where it is of another class there."""

UNKNOWN: Final = Never(f"it has no class{_LIES}")


def class_of(command: str, key: str) -> Class:
    """Return the class of an option; one that no file sets where it has none."""
    return CLASSES.get(f"{command}.{key}") or CLASSES.get(key) or UNKNOWN
