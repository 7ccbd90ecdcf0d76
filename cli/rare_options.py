"""Options that the first page of a command's help leaves out."""

import click


class RareOption(click.Option):
    """An option that only ``--help all`` shows."""
