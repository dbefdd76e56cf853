"""Commands: what can be asked for, and the rules that decide it. One file for each thing that people do."""

from domain.commands.base import Command, Decision
from domain.commands.ingest import Ingest
from domain.commands.log import OpenLog
from domain.commands.sources import RecordImport, RegisterSource

COMMANDS: tuple[type[Command], ...] = (OpenLog, RegisterSource, RecordImport, Ingest)

__all__ = ["COMMANDS", "Command", "Decision", "Ingest", "OpenLog", "RecordImport", "RegisterSource"]
