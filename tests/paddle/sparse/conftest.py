"""Calling the command, as the tests of the command line do."""

from tests.cli.conftest import folder, gradtool

__all__ = ["folder", "gradtool"]
