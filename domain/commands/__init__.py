"""Commands: what can be asked for, and the rules that decide it. One file for each thing that people do."""

from typing import Final

from domain.commands.attestations import AttestRun, HideAttestation
from domain.commands.base import Command, Decision
from domain.commands.corrections import RetractRun, ReviseMetadata, SupersedeRun
from domain.commands.disputes import OpenDispute, ResolveDispute
from domain.commands.erasure import EraseEvent
from domain.commands.ingest import Ingest
from domain.commands.issues import CloseIssue, ReportIssue
from domain.commands.log import OpenLog
from domain.commands.rerun_results import RecordRerun
from domain.commands.reruns import AbandonRerun, RenewRerunLease, RequestRerun, StartRerun
from domain.commands.runners import ApproveRunner, SuspendRunner
from domain.commands.sources import RecordImport, RegisterSource

COMMANDS: Final[tuple[type[Command], ...]] = (
    OpenLog,
    EraseEvent,
    RegisterSource,
    RecordImport,
    Ingest,
    ReviseMetadata,
    RetractRun,
    SupersedeRun,
    OpenDispute,
    ResolveDispute,
    ApproveRunner,
    SuspendRunner,
    RequestRerun,
    StartRerun,
    RenewRerunLease,
    RecordRerun,
    AbandonRerun,
    AttestRun,
    HideAttestation,
    ReportIssue,
    CloseIssue,
)

__all__ = [
    "COMMANDS",
    "AbandonRerun",
    "ApproveRunner",
    "AttestRun",
    "CloseIssue",
    "Command",
    "Decision",
    "EraseEvent",
    "HideAttestation",
    "Ingest",
    "OpenDispute",
    "OpenLog",
    "RecordImport",
    "RecordRerun",
    "RegisterSource",
    "RenewRerunLease",
    "ReportIssue",
    "RequestRerun",
    "ResolveDispute",
    "RetractRun",
    "ReviseMetadata",
    "StartRerun",
    "SupersedeRun",
    "SuspendRunner",
]
