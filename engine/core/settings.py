"""Settings of this process that are given back where a run ends: whoever has one says how.

Nothing of the engine is needed for that, so modules that load nothing else can have settings, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Restore = Callable[[], object]
_settings: list[Callable[[], Restore]] = []
_restorers: list[list[Restore]] = []


def register_setting(save: Callable[[], Restore]) -> Callable[[], Restore]:
    """Have :func:`keep_settings` restore a setting of this process, too; its module calls this when it is imported.

    Args:
        save: called at the beginning, at once if that is over; what it returns is called at the end. What it names
            has to be there by then.
    """
    _settings.append(save)
    for restorers in _restorers:
        restorers.append(save())  # imported inside: it is as it was at first
    return save


@contextmanager
def keep_settings() -> Iterator[None]:
    """Give every :func:`register_setting` back as it was."""
    restorers = [save() for save in _settings]
    _restorers.append(restorers)
    try:
        yield
    finally:
        _restorers[:] = [others for others in _restorers if others is not restorers]
        for restore in restorers:
            restore()
