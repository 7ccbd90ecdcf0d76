"""Models are asked as the command line asks them."""

from __future__ import annotations

from tests.cli.conftest import folder, gradtool

__all__ = ["folder", "gradtool"]
