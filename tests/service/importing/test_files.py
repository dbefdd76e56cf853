"""Which files an import reads, and that it reads them whole, once, and whatever is wrong with them."""

from hashlib import sha256
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ErrorCode, InvalidInput
from domain.json_text import MAX_BYTES
from service.importing.files import MAX_DOCUMENT_BYTES, Document, Reading, _split, find


def read(path: Path) -> list[Document]:
    return list(Reading(path).documents())


def texts(path: Path) -> list[bytes | str]:
    """What a file holds: texts, and the messages of what could not be read."""
    return [text if isinstance(text, bytes) else text.problems[0].message for _, text in read(path)]


def test_a_folder_gives_all_files_that_can_be_imported_in_order(tmp_path: Path) -> None:
    for name in ("b/two.yaml", "b/one.json", "a.jsonl.zst", "notes.md", ".hidden.json", "picture.zst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    files, problems = find([tmp_path])

    assert [str(path.relative_to(tmp_path)) for path in files] == ["a.jsonl.zst", "b/one.json", "b/two.yaml"]
    assert problems == []


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.touch()
    assert find([path, tmp_path]) == ([path], [])


def test_paths_that_give_nothing_are_told_with_a_remedy_and_keep_no_other_out(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "table.xlsx").touch()
    (tmp_path / "run.json").touch()

    files, problems = find([tmp_path / name for name in ("empty", "table.xlsx", "missing.json", "run.json")])

    assert [path.name for path in files] == ["run.json"]
    assert [problem.message for problem in problems] == [
        "holds no file that can be imported",
        "is not a file that can be imported",
        "there is no such file",
    ]
    assert all(problem.document and problem.remedy for problem in problems)


def test_lines_are_documents_named_by_file_and_number(tmp_path: Path) -> None:
    """Blank lines count and hold nothing; the last line needs no end."""
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'{"a": 1}\n\n  \r\n{"b": 2}\r\n{"c": 3}')
    assert read(path) == [(f"{path}:1", b'{"a": 1}'), (f"{path}:4", b'{"b": 2}\r'), (f"{path}:5", b'{"c": 3}')]


@given(
    lines=st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=12),
    cuts=st.lists(st.integers(1, 20), min_size=1, max_size=8),
)
def test_lines_are_the_same_however_the_bytes_arrive(lines: list[bytes], cuts: list[int]) -> None:
    text = b"".join(line + b"\n" for line in lines)
    chunks: list[bytes] = []
    rest = text
    while rest:
        size = cuts[len(chunks) % len(cuts)]
        chunks.append(rest[:size])
        rest = rest[size:]
    assert list(_split(chunks)) == lines


def test_the_digest_is_that_of_the_bytes_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl.zst"
    path.write_bytes(zstandard.compress(b'{"a": 1}\n' * 1000))
    told: list[int] = []

    reading = Reading(path, told.append)
    documents = list(reading.documents())

    assert len(documents) == 1000
    assert reading.digest == f"sha256:{sha256(path.read_bytes()).hexdigest()}"
    assert sum(told) == path.stat().st_size


def test_zstd_in_several_frames_is_one_text(tmp_path: Path) -> None:
    """As parallel compressors and appending write it; a document may cross the border."""
    path = tmp_path / "frames.jsonl.zst"
    path.write_bytes(zstandard.compress(b'{"a": 1}\n{"b"') + zstandard.compress(b": 2}\n"))
    assert texts(path) == [b'{"a": 1}', b'{"b": 2}']


@pytest.mark.parametrize("damage", ["cut", "broken"])
def test_a_damaged_file_gives_what_comes_before_the_damage_and_says_so(tmp_path: Path, damage: str) -> None:
    whole = zstandard.compress(b'{"a": 1}\n')
    more = zstandard.compress(b'{"b": 2}\n' * 50_000)
    path = tmp_path / "damaged.jsonl.zst"
    path.write_bytes(whole + (more[:-5] if damage == "cut" else b"no zstd at all"))

    reading = Reading(path)
    *before, (name, refusal) = reading.documents()

    assert before[0] == (f"{path}:1", b'{"a": 1}')
    assert name == str(path)
    assert isinstance(refusal, InvalidInput)
    assert refusal.problems[0].code is ErrorCode.MALFORMED_DOCUMENT
    assert "damaged" in refusal.problems[0].message
    assert reading.digest == f"sha256:{sha256(path.read_bytes()).hexdigest()}"


def test_a_line_that_is_too_long_is_refused_and_the_next_one_read(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b'{"a": 1}\n' + b"x" * (3 * MAX_BYTES) + b'\n{"b": 2}\n' + b"y" * (2 * MAX_BYTES))

    (_, first), (second, refusal), (_, third), (fourth, last) = read(path)

    assert (first, third) == (b'{"a": 1}', b'{"b": 2}')
    for name, number, error in ((second, 2, refusal), (fourth, 4, last)):
        assert name == f"{path}:{number}"
        assert isinstance(error, InvalidInput)
        assert error.problems[0].code is ErrorCode.DOCUMENT_TOO_LARGE


def test_a_compressed_document_that_would_fill_the_memory_is_cut_off(tmp_path: Path) -> None:
    """128 MiB of zeros in a file of a few kilobytes: what is more than a document may have is dropped as it comes."""
    compressor = zstandard.ZstdCompressor().compressobj()
    path = tmp_path / "bomb.json.zst"
    with path.open("wb") as file:
        for _ in range(128):
            file.write(compressor.compress(bytes(1024 * 1024)))
        file.write(compressor.flush())

    ((_, text),) = read(path)

    assert isinstance(text, bytes)
    assert MAX_DOCUMENT_BYTES < len(text) < 2.5 * MAX_DOCUMENT_BYTES


def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.mkdir()
    ((name, refusal),) = read(path)
    assert name == str(path)
    assert isinstance(refusal, InvalidInput)
    assert "can't be read" in refusal.problems[0].message
