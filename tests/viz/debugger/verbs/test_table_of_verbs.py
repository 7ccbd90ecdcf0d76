"""The verbs are the folder: what a file there defines is a verb, and no file is read before a session asks."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

from gradtool.viz.debugger import verbs


def test_every_file_of_the_folder_has_verbs_and_every_verb_is_from_there() -> None:
    folder = {f"{verbs.__name__}.{module.name}" for module in pkgutil.iter_modules(verbs.__path__)}
    assert folder == {v.act.__module__ for v in verbs.table().values()}


def test_no_two_verbs_answer_to_one_word() -> None:
    words = [word for v in verbs.table().values() for word in (v.name, *v.aliases)]
    assert sorted(words) == sorted(set(words))


def test_groups_are_those_of_the_verbs_in_their_order() -> None:
    assert tuple(dict.fromkeys(v.group for v in verbs.table().values())) == tuple(verbs.GROUPS)


def test_the_files_are_read_when_a_session_asks() -> None:
    program = (
        "import sys\nfrom gradtool.viz.debugger import verbs\n"
        "here = lambda: {n for n in sys.modules if n.startswith(verbs.__name__ + '.')}\n"
        "print(len(here()))\nverbs.table()\nprint(len(here()))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert (before, after) == (0, len([*pkgutil.iter_modules(verbs.__path__)]))
