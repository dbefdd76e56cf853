"""What people may write into the log: text, links, numbers. Each check gives the problems that it finds."""

import base64
import binascii
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Final
from urllib.parse import urlsplit

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.json_text import check_tree, shown
from domain.patterns import LINE_PATTERN, MOST_SLUG, PROSE_PATTERN, SLUG_PATTERN

MOST_PROSE: Final = 2000
MOST_LINE: Final = 200
MOST_URL: Final = 2000
KEY_BYTES: Final = 32

_LINE: Final = re.compile(LINE_PATTERN)
_PROSE: Final = re.compile(PROSE_PATTERN)
_SLUG: Final = re.compile(SLUG_PATTERN)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_NUMBER: Final = re.compile(r"[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?")


def prose(text: str, path: str, most: int = MOST_PROSE) -> Iterator[Problem]:
    """Words on any number of lines: not blank, and nothing that hides or reorders them."""
    yield from _words(text, path, _PROSE, f"write 1 to {most} characters, without control or direction marks", most)


def line(text: str, path: str, most: int = MOST_LINE) -> Iterator[Problem]:
    """Words on one line: not blank, and nothing that hides or reorders them."""
    remedy = f"write 1 to {most} characters on one line, without control or direction marks"
    yield from _words(text, path, _LINE, remedy, most)


def _words(text: str, path: str, pattern: re.Pattern[str], remedy: str, most: int) -> Iterator[Problem]:
    if not text.strip() or len(text) > most or not pattern.search(text):
        what = f"has {len(text)} characters" if len(text) > most else f"{shown(text)} is not accepted"
        yield _problem(what if text.strip() else "is empty", path, remedy)
        return
    try:
        check_tree({"text": text})
    except InvalidInput as error:
        yield from (_problem(problem.message, path, problem.remedy, problem.code) for problem in error.problems)


def name(text: str, path: str) -> Iterator[Problem]:
    """A name for machines: of a host, a runner, a principal."""
    if not _NAME.fullmatch(text):
        yield _problem(
            f"{shown(text)} is not accepted",
            path,
            "write 1 to 100 of A-Z a-z 0-9 . _ -, beginning with one of A-Z a-z 0-9",
        )


def slug(text: str, path: str) -> Iterator[Problem]:
    """A name for URLs."""
    if len(text) > MOST_SLUG or not _SLUG.fullmatch(text):
        yield _problem(
            f"{shown(text)} is not accepted",
            path,
            f"write lower-case letters, digits and hyphens, not beginning with one; at most {MOST_SLUG}",
        )


def https_url(text: str, path: str) -> Iterator[Problem]:
    """A link that is safe to show: https, with a host, without a password."""
    try:
        parts = urlsplit(text)
        good = parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        good = False
    if not good or len(text) > MOST_URL or not text.isascii() or re.search(r"[\s\x00-\x20\x7f<>\"\\^`{|}]", text):
        yield _problem(f"{shown(text)} is not accepted", path, "give an https:// URL of at most 2000 ASCII characters")


def positive_number(text: str, path: str) -> Iterator[Problem]:
    """A positive decimal number, as ``8120`` or ``8.12e3``."""
    remedy = "give a positive decimal number such as 8120 or 8.12"
    try:
        good = bool(_NUMBER.fullmatch(text)) and Decimal(text) > 0
    except InvalidOperation:
        good = False
    if not good:
        yield _problem(f"{shown(text)} is not accepted", path, remedy)


def public_key(text: str, path: str) -> Iterator[Problem]:
    """An Ed25519 public key: base64 of its 32 bytes."""
    if len(decoded(text)) != KEY_BYTES:
        yield _problem(
            f"{shown(text)} is not accepted", path, "give the base64 of the 32 bytes of an Ed25519 public key"
        )


def decoded(text: str) -> bytes:
    """The bytes of strict base64; none where it is something else."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _problem(message: str, path: str, remedy: str, code: ErrorCode = ErrorCode.INVALID_VALUE) -> Problem:
    return Problem(code=code, message=message, path=path, remedy=remedy)
