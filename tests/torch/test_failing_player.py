"""A script goes on where gradtool's side of it fails, and an error of the framework's stays its own in the script."""

from types import SimpleNamespace

import pytest

from gradtool.engine.core.command_errors import ModelError
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.eager.tape import FreedGraphError
from gradtool.engine.recorders.recorded import events
from gradtool.engine.recorders.recorded.playback import Playback
from gradtool.engine.script.calls import Stopped
from gradtool.engine.script.users_code import call, explain

ENDED = events.BackwardEnded((1,), "backward", (None,), False, False, (), (), "", ())


def _watched(raised):
    def play(event):
        played.append(event)
        raise raised

    played = []
    return SimpleNamespace(failed=None, player=play, played=played)


@pytest.mark.parametrize("raised", [UnsupportedError("no rule"), KeyError(3), FreedGraphError("twice")])
def test_what_the_player_raises_does_not_reach_the_script(raised):
    watched = _watched(raised)
    Playback.play(watched, ENDED)
    Playback.play(watched, events.RecordingRestored())
    assert watched.failed is raised
    assert watched.played == [ENDED]


def test_a_script_that_has_run_enough_is_stopped():
    with pytest.raises(Stopped):
        Playback.play(_watched(Stopped()), ENDED)


def test_a_refused_pass_is_explained():
    with pytest.raises(FreedGraphError):
        Playback.play(_watched(FreedGraphError("twice")), ENDED._replace(error="a second time"))


def test_an_error_is_explained_only_where_it_ends_the_script():
    seen = []

    def script(catches):
        error = RuntimeError("the framework's words")
        explain(error, FreedGraphError("both sides"))
        try:
            raise error
        except RuntimeError as caught:
            seen.append(str(caught))
            if not catches:
                raise

    call("train.py", script, True)
    with pytest.raises(FreedGraphError, match="both sides"):
        call("train.py", script, False)
    assert seen == ["the framework's words"] * 2


def test_other_errors_end_the_script_as_before():
    def script():
        raise RuntimeError("the framework's words")

    with pytest.raises(ModelError, match="RuntimeError: the framework's words"):
        call("train.py", script)
