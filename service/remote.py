"""What another index answers over HTTP: errors as it states them, and what may pass by itself."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import httpx

from domain.errors import ErrorCode, KernelIndexError, Problem

LONGEST_WAIT_S: Final = 60.0
PASSING: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
"""Answers after which the same request may succeed."""


def wait_s(answer: httpx.Response, otherwise: float) -> float:
    """How long to wait before the next try: as the answer says (a minute at most), else as long as given."""
    stated = answer.headers.get("retry-after", "")
    return min(float(stated), LONGEST_WAIT_S) if stated.isdigit() else otherwise


def problem_of(error: Mapping[str, Any], document: str = "") -> Problem:
    """A problem as the server states it; of errors of whole requests the rest is under ``extensions``."""
    stated = {**error, **error.get("extensions", {})}
    known = stated.get("code") in list(ErrorCode)
    return Problem(
        code=ErrorCode(stated["code"]) if known else ErrorCode.INTERNAL,
        message=str(stated.get("message", "")),
        path=str(stated.get("path") or ""),
        document=document,
        remedy=str(stated.get("remedy") or ""),
    )


def failure_of(answer: httpx.Response) -> KernelIndexError:
    """The error of an answer that is none to what was asked."""
    try:
        return KernelIndexError(*(problem_of(error) for error in answer.json()["errors"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return KernelIndexError.because(
            f"{answer.url} answered {answer.status_code} {answer.reason_phrase}",
            code=ErrorCode.BAD_REQUEST,
            remedy="check that --server names a KernelIndex",
        )
