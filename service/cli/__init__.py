"""The command line. Each command is loaded when it is called, so that all of them start quickly."""

from service.cli.program import main

__all__ = ["main"]
