"""Every exception that gradtool raises.

::

    GradtoolError
      ProgramError     ShapeError (ValueError)   DtypeError (TypeError, ValueError)   NameClash (ValueError)
                       NotFound (KeyError)       OperatorError (ValueError)
      GradientError    LossTypeError (AssertionError, TypeError)   NoGradientRule (RuntimeError)
      ExecutionError   FeedError (ValueError)   FetchError   KernelError (ValueError)   UninitializedError
      BackendError
      UsageError       ArgumentTypeError (TypeError)   ModeError (AssertionError)   NotImplementedHere
                       FileMissing (FileNotFoundError)
      FileFormatError (ValueError)

An error carries what the code that raised it knew: the operator, the variable, the user's line and a hint. Low-level
code raises with what it knows and :func:`describe` fills in the rest on the way up. Where Paddle documents a
built-in class, ours derives from it too, so existing ``except`` clauses keep working.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .near_names import find_near, shorten


class GradtoolError(Exception):
    """Base of every error; prints as one message followed by indented facts.

    Args:
        message: what was expected and what came, in one sentence.
        op: the operator as one line of text, if one is involved.
        variable: the variable's name, if one is involved.
        made: where in the user's program the operator was made (``file:line in function:  source``).
        hint: what to do about it.

    Attributes:
        code: what ``gradtool explain`` knows the kind of error by; every class has one, most that of their base.
        in_paddle: the words of Paddle's message that existing code looks for; they end ``str(error)``, and
            :func:`message` leaves them out.
    """

    code: str = ""
    in_paddle: str = ""

    def __init__(
        self,
        message: str,
        *,
        op: str | None = None,
        variable: str | None = None,
        made: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.op = op
        self.variable = variable
        self.made = made
        self.hint = hint

    def facts(self) -> Iterator[tuple[str, str]]:
        """The indented facts below the message, as ``(label, text)``, leaving out what is not known."""
        for label, text in (
            ("op", self.op),
            ("var", self.variable),
            ("made", self.made),
            ("hint", self.hint),
        ):
            if text:
                yield label, text

    def text(self) -> str:
        """The message and its facts, as people read them."""
        return "\n".join([self.message, *(f"  {label:<5} {text}" for label, text in self.facts())])

    def __str__(self) -> str:
        return self.text() + (f"\n  paddle {self.in_paddle}" if self.in_paddle else "")


class ProgramError(GradtoolError):
    """A program cannot be built this way."""

    code = "GT-E101"


class ShapeError(ProgramError, ValueError):
    """Shapes do not fit each other or the operator."""

    code = "GT-E102"
    in_paddle = "(InvalidArgument)"


class AxisError(ShapeError, IndexError):
    """A dimension that a tensor does not have (Paddle raises ValueError or IndexError, by operator)."""

    code = "GT-E103"
    in_paddle = "(InvalidArgument) (OutOfRange)"


class DtypeError(ProgramError, TypeError, RuntimeError, ValueError):
    """A data type is unknown or not accepted.

    Paddle raises TypeError or ValueError, by where it notices, and RuntimeError where no kernel is registered for it.
    """

    code = "GT-E104"
    in_paddle = "(InvalidArgument)"


class NameClash(ProgramError, ValueError):
    """A name is taken by something different."""

    code = "GT-E105"


class OperatorError(ProgramError, ValueError):
    """An operator was given inputs, outputs or attributes that do not fit its definition."""

    code = "GT-E106"


class NotFound(ProgramError, KeyError):
    """A name that does not exist; the hint names near matches."""

    code = "GT-E107"


class VariableNotFound(NotFound, ValueError):
    """A variable that does not exist in a block (Paddle raises ValueError)."""

    code = "GT-E108"


class SlotNotFound(NotFound, RuntimeError):
    """A slot or attribute that an operator does not have (Paddle raises RuntimeError)."""

    code = "GT-E109"


class GradientError(GradtoolError):
    """A gradient cannot be computed."""

    code = "GT-E201"


class LossTypeError(GradientError, AssertionError, TypeError):
    """The loss is no Variable: documented as AssertionError, raised by Paddle as TypeError; this is both."""

    code = "GT-E202"


class LossError(GradientError, ValueError):
    """The loss cannot be differentiated: it has several elements, or nothing computes it."""

    code = "GT-E203"


class NoGradientRule(GradientError, RuntimeError):
    """An operator on the path from the parameters to the loss has no gradient."""

    code = "GT-E204"


class ExecutionError(GradtoolError, RuntimeError):
    """A program cannot be run."""

    code = "GT-E301"


class FeedError(ExecutionError, ValueError):
    """A fed value is missing or does not fit the declaration."""

    code = "GT-E302"


class FetchError(ExecutionError):
    """Something asked for cannot be fetched."""

    code = "GT-E303"


class UninitializedError(ExecutionError):
    """A persistable variable has no value yet."""

    code = "GT-E304"


class KernelError(ExecutionError, ValueError):
    """An operator failed while it ran."""

    code = "GT-E305"
    in_paddle = "(InvalidArgument)"


class LabelError(KernelError, IndexError):
    """An index or label outside its range (Paddle raises IndexError)."""

    code = "GT-E306"
    in_paddle = "(OutOfRange) (InvalidArgument)"  # one or the other, by operator


class BackendError(GradtoolError):
    """A backend that is unknown or not installed."""

    code = "GT-E307"


class UsageError(GradtoolError, ValueError):
    """A function was called with arguments it does not take."""

    code = "GT-E401"


class ArgumentTypeError(UsageError, TypeError):
    """An argument of a wrong Python type."""

    code = "GT-E402"
    in_paddle = "(InvalidArgument) (InvalidType)"  # one or the other, by function


class ModeError(UsageError, AssertionError):
    """A function of the other mode (static or dynamic) was called (Paddle raises AssertionError)."""

    code = "GT-E403"


class NotImplementedHere(UsageError, AttributeError):
    """A name of Paddle's that gradtool does not have; says so and names what is near."""

    code = "GT-E404"


class FileMissing(UsageError, FileNotFoundError):
    """A file to load does not exist."""

    code = "GT-E501"


class FileFormatError(GradtoolError, ValueError):
    """A file, or text, is not what it should be: cut short, changed, made by something else, or made to do harm.

    Args:
        file: which file.
        expected: what should stand there.
        came: what stands there.
        hint: what to do about it.
    """

    code = "GT-E502"

    def __init__(self, file: str, expected: str, came: str, *, hint: str | None = None) -> None:
        super().__init__(f"{file}: expected {expected}, but {came}.", hint=hint)
        self.file = file
        self.expected = expected
        self.came = came


def expect_type(value: object, types: type | tuple[type, ...], what: str, where: str) -> None:
    """Raise :class:`ArgumentTypeError` unless *value* is one of *types*.

    Args:
        what: the argument's name, as the caller wrote it.
        where: the public name of the function that was called.
    """
    if not isinstance(value, types):
        wanted = types if isinstance(types, tuple) else (types,)
        names = " or ".join("None" if t is type(None) else t.__name__ for t in wanted)
        raise ArgumentTypeError(
            f"The type of '{what}' in {where} must be {names}, but received {type(value).__name__}."
        )


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """A hint that names near matches, or None when nothing is near."""
    matches = find_near(name, names)
    return f"did you mean {', '.join(repr(shorten(n)) for n in matches)}?" if matches else None


def message(error: BaseException) -> str:
    """Return an error's message for people: :class:`GradtoolError` without the words of Paddle that only code looks
    for.
    """
    return error.text() if isinstance(error, GradtoolError) else str(error)


def describe(error: GradtoolError, *, op: str | None = None, made: str | None = None) -> GradtoolError:
    """Fill in what an error raised by lower-level code does not yet know."""
    error.op = error.op or op
    error.made = error.made or made
    return error


class UnsupportedError(UsageError):
    """Something that Paddle has and this version of gradtool does not; says so instead of doing something else."""

    code = "GT-E405"


class ElementTypeError(ArgumentTypeError, AttributeError):
    """An element of a list argument of a wrong type (Paddle raises AttributeError)."""


class EmptyArgumentError(UsageError, IndexError):
    """An empty list where at least one element is needed (Paddle raises IndexError)."""

    code = "GT-E406"


class UnusedCheckpointWarning(UserWarning):
    """A checkpoint that the loss does not depend on, so that nothing can be computed again from it."""


class UnknownNameWarning(UserWarning):
    """A name in ``parameter_list`` or ``no_grad_set`` that no variable has; Paddle ignores it silently."""


class FixedError(GradtoolError):
    """A value depends on an edit, but the operator that makes it cannot run again."""

    code = "GT-E603"
