"""Models: everything that the command line can load, asked from Python."""

from __future__ import annotations
