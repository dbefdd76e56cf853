"""The files of an import: found, told apart by their names, each read once and as a stream."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import zstandard

from domain.errors import ErrorCode, InvalidInput, Problem
from domain.json_text import MAX_BYTES, too_large

LINES: Final = frozenset({".jsonl", ".ndjson"})
DOCUMENTS: Final = frozenset({".json", ".yaml", ".yml"})
TABLES: Final = frozenset({".csv"})
COMPRESSED: Final = ".zst"
MAX_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
"""A manifest has a megabyte at most; a page of a source may hold the code of a hundred submissions."""

_CHUNK: Final = 256 * 1024
# Four bytes of zstd can stand for 128 KiB: so little at once that the worst file can't fill the memory.
_COMPRESSED_CHUNK: Final = 1024


def ignore(_: int) -> None:
    """Nobody is told how far it has come."""


Document = tuple[str, bytes | InvalidInput]
"""The name of a document in messages, and its text or why there is none."""


def find(paths: Sequence[Path]) -> tuple[list[Path], list[Problem]]:
    """The files to import under these paths, in order, and what is wrong with paths that give none."""
    files: list[Path] = []
    problems: list[Problem] = []
    for path in paths:
        found = _inside(path) if path.is_dir() else [path] if path.is_file() and _kind(path) else []
        files += found
        if not found:
            problems.append(_nothing(path))
    return list(dict.fromkeys(files)), problems


def holds_lines(path: Path) -> bool:
    """Whether each line of the file is a document."""
    return _kind(path) in LINES


def holds_rows(path: Path) -> bool:
    """Whether the file is a table: each document is its heading and one row."""
    return _kind(path) in TABLES


def _inside(folder: Path) -> list[Path]:
    found = (Path(parent) / name for parent, _, names in os.walk(folder) for name in names if not name.startswith("."))
    return sorted(path for path in found if _kind(path))


@lru_cache
def _kind(path: Path) -> str | None:
    ending = Path(path.name.lower().removesuffix(COMPRESSED)).suffix
    return ending if ending in LINES | DOCUMENTS | TABLES else None


def _nothing(path: Path) -> Problem:
    endings = ", ".join(sorted(LINES | DOCUMENTS | TABLES))
    if path.is_dir():
        message, remedy = "holds no file that can be imported", f"files are told by their endings: {endings}"
    elif path.exists():
        message, remedy = (
            "is not a file that can be imported",
            f"its name must end in {endings}, or that and {COMPRESSED}",
        )
    else:
        message, remedy = "there is no such file", "check the path"
    return Problem(code=ErrorCode.NOT_FOUND, message=message, document=str(path), remedy=remedy)


class Reading:
    """One file being read. ``digest`` is that of its bytes as they are on the disk, once all documents were read."""

    def __init__(self, path: Path, advance: Callable[[int], None] = ignore) -> None:
        self.path = path
        self.digest = ""
        self._advance = advance
        self._sum = sha256()

    def documents(self) -> Iterator[Document]:
        """Its documents: the lines of JSON Lines, the rows of a table, else the whole file.

        A file that is damaged ends with an error.
        """
        try:
            with self.path.open("rb") as file:
                raw = self._raw(iter(lambda: file.read(_CHUNK), b""))
                chunks = _unpacked(raw) if self.path.name.lower().endswith(COMPRESSED) else raw
                yield from self._documents(chunks)
                for _ in raw:
                    continue  # what is behind the damage belongs to the digest
                self.digest = f"sha256:{self._sum.hexdigest()}"
        except OSError as error:
            yield self._refused(f"can't be read: {error.strerror or error}", "check the file and who may read it")

    def _documents(self, chunks: Iterable[bytes]) -> Iterator[Document]:
        if holds_lines(self.path):
            return self._lines(chunks)
        return self._rows(chunks) if holds_rows(self.path) else self._whole(chunks)

    def _raw(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._sum.update(chunk)
            self._advance(len(chunk))
            yield chunk

    def _lines(self, chunks: Iterable[bytes]) -> Iterator[Document]:
        try:
            for number, line in enumerate(_split(chunks), 1):
                if line is None:
                    problem = too_large(f"is larger than {MAX_BYTES} bytes (1 MiB)")
                    yield f"{self.path}:{number}", InvalidInput(problem)
                elif not line.isspace() and line:
                    yield f"{self.path}:{number}", line
        except zstandard.ZstdError as error:
            yield self._refused(f"is damaged: {error}", "fetch or compress it again; what was read so far is imported")

    def _rows(self, chunks: Iterable[bytes]) -> Iterator[Document]:
        heading: bytes | None = None
        for name, line in self._lines(chunks):
            if isinstance(line, InvalidInput):
                yield name, line
            elif heading is None:
                heading = line
            else:
                yield name, heading + b"\n" + line

    def _whole(self, chunks: Iterable[bytes]) -> Iterator[Document]:
        text = bytearray()
        try:
            for chunk in chunks:
                if len(text) <= MAX_DOCUMENT_BYTES:
                    text += chunk
        except zstandard.ZstdError as error:
            yield self._refused(f"is damaged: {error}", "fetch or compress it again")
        else:
            yield str(self.path), bytes(text)

    def _refused(self, message: str, remedy: str) -> Document:
        error = InvalidInput.because(message, code=ErrorCode.MALFORMED_DOCUMENT, remedy=remedy)
        return str(self.path), error


def _unpacked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content of zstd frames. Raises ``ZstdError`` where they are broken or the last one has no end."""
    frame = None
    for chunk in chunks:
        for start in range(0, len(chunk), _COMPRESSED_CHUNK):
            rest = chunk[start : start + _COMPRESSED_CHUNK]
            while rest:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                yield frame.decompress(rest)
                rest = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
    if frame:
        raise zstandard.ZstdError("it ends in the middle")


def _split(chunks: Iterable[bytes]) -> Iterator[bytes | None]:
    """The lines of a text, None for one that is too long to be read."""
    rest, too_long = b"", False
    for chunk in chunks:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield None if too_long else line
            too_long = False
        if len(rest) > MAX_BYTES:
            rest, too_long = b"", True
    if rest or too_long:
        yield None if too_long else rest
