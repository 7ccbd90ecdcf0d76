"""Verbs about the session itself."""

from __future__ import annotations

from . import verbs
from .errors import VerbError
from .notebook import Notebook
from .verbs import Reply, verb


@verb("help [VERB]", "h", group="session", completes="verb")
def help_(book: Notebook, rest: str) -> Reply:
    """The verbs."""
    if rest:
        found = verbs.named(rest)
        if found is None:
            raise VerbError(f"there is no verb {rest!r}.")
        also = f" (also: {', '.join(found.aliases)})" if found.aliases else ""
        return Reply(f"{found.usage}{also}\n  {found.act.__doc__ or ''}".rstrip())
    rows: list[str] = []
    group = ""
    for v in verbs.table().values():
        if v.group != group:
            group = v.group
            rows.append(group)
        short = f" ({', '.join(v.aliases)})" if v.aliases else ""
        rows.append(f"  {v.usage + short:<34} {v.help}")
    return Reply("\n".join([*rows, "Anything else is Python: v[NAME], cur, fwd, ins, outs, dout, g, np."]))


@verb("quit", "q", "exit", group="session")
def quit_(book: Notebook, rest: str) -> Reply:
    """Leave the debugger."""
    return Reply("", quit=True)
