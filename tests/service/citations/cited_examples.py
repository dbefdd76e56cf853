"""Runs as they are cited, and fields of what is written about them."""

import re
from typing import Any

import msgspec

from service.citations import CitationFormat, Cited, cite
from service.citations.cited import Name, Result

DIGEST = "sha256:28c78ea8f808d1b78085d073f400abf64930109cb0ad61efd3634542aaa78a58"
PERMALINK = f"https://kernels.example/runs/{DIGEST[7:]}/at/213"

ARGUS = Cited(
    digest=DIGEST,
    position=213,
    permalink=PERMALINK,
    title="Argus: MoE expert parallel backward, suite of 16 cases · mean latency, NVIDIA B200",
    authors=(Name(literal="Argus"),),
    result=Result(metric="latency", statistic="mean", unit="ns", value="353370", formatted="353.4 µs"),
    status="PASSED",
    source="NVIDIA SOL-ExecBench",
    evidence_level="REPORTED",
    issued_on="2026-08-24",
    changed_on="2026-09-01",
    accessed_on="2026-11-11",
)


def cited(**changes: Any) -> Cited:
    """``ARGUS`` with other values."""
    return msgspec.structs.replace(ARGUS, **changes)


def written(one: Cited, name: str) -> str:
    """The citation in the format of that name."""
    return cite(one, CitationFormat[name]).content


def tex_fields(text: str) -> dict[str, str]:
    """The fields of a BibTeX entry without their delimiters."""
    found = re.findall(r"^  (\w+) = (.*),$", text, re.MULTILINE)
    return {name: value[1:-1] if value.startswith("{") else value for name, value in found}


def ris_fields(text: str) -> dict[str, list[str]]:
    """The values of each tag of a RIS record."""
    fields: dict[str, list[str]] = {}
    for line in text.split("\r\n")[:-1]:
        tag, value = line.split("  - ", 1)
        fields.setdefault(tag, []).append(value)
    return fields


def csl_item(text: str) -> dict[str, Any]:
    """The only item of a CSL-JSON list."""
    (item,) = msgspec.json.decode(text)
    return dict(item)
