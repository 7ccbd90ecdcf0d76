"""Models: everything that the command line can load, asked from Python in the same words.

``gradtool.load("model.py").why("w")`` is what ``gradtool why w model.py`` answers.
"""

from __future__ import annotations

from gradtool import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
