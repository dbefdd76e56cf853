"""Makes the folders beside this file: a small log that is whole (``untampered``), and one for each way to tamper with it.

    .venv/bin/python -m tests.audit.make_folders

They are kept as files: a log that was signed once must verify for ever, whatever later releases would write.
"""

import asyncio
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from domain.audit.leaves import digest_bytes, leaf_of
from domain.audit.merkle import root_of
from domain.audit.notes import Checkpoint, Note
from domain.commands import AttestRun, Command, EraseEvent, RegisterSource
from domain.events import Committed, erased, export_line, read_export_line
from domain.facts import AttestationType
from domain.identity import canonical_json, digest_of
from domain.principals import LOCAL
from service.app import open_index
from service.audit.ed25519 import SignerKey
from service.settings import Settings
from tests.examples import Clock, Ids, bundle, ingest

HERE = Path(__file__).parent
ORIGIN = "example.org/log"
KEY = SignerKey(ORIGIN, b"a key of the tests, known to all")
OTHER_KEY = SignerKey(ORIGIN, b"some other key, of nobody at all")
ELSEWHERE = SignerKey("elsewhere.example/log", b"a key of the tests, known to all")

Lines = list[bytes]
Event = dict[str, Any]
RUN = bundle(100).run
assert RUN
ATTESTATION = "attestation/a-1"

COMMANDS: tuple[Command, ...] = (
    ingest(100, by="heron"),
    ingest(90, by="stork"),
    RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=b'{"license":"CC-BY-4.0"}'),
    RegisterSource(slug="tern-board", name="Tern Board", kind="leaderboard", policy=b'{"license":"CC0-1.0"}'),
    AttestRun(attestation="a-1", run=RUN.digest, type=AttestationType.REPRODUCED, note="Same at Anna's.", salt="s"),
    ingest(80, by="crane"),
)


async def _written() -> Lines:
    with TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder), log_origin=ORIGIN)
        async with open_index(settings, now=Clock(), new_id=Ids(), follow=False) as index:
            for command in COMMANDS:
                results, _ = index.ledger.record([command], LOCAL)
                assert "Refusal" not in type(results[0]).__name__, results
            attested = next(
                position
                for position, one in enumerate(index.log.read(0, 1000), 1)
                if one.recorded.originator_id == ATTESTATION
            )
            erase = EraseEvent(position=attested, stream=ATTESTATION, legal_basis="GDPR, article 17")
            index.ledger.record([erase], LOCAL)
            events = [one.at(position) for position, one in enumerate(index.log.read(0, 1000), 1)]
    events[attested - 1] = Committed(0, erased(events[attested - 1])).at(attested)
    return [export_line(event) for event in events]


LINES = asyncio.run(_written())


def at(lines: Lines, **wanted: Any) -> int:
    """The index of the first line whose event has these fields."""
    return next(n for n, line in enumerate(lines) if wanted.items() <= json.loads(line).items())


def changed(line: bytes, change: Callable[[Event], None]) -> bytes:
    """The line with its event changed, written canonically again."""
    event = json.loads(line)
    change(event)
    return canonical_json(event)


def signed(lines: Lines, size: int | None = None, key: SignerKey = KEY) -> str:
    """A checkpoint of the first lines."""
    taken = lines[: len(lines) if size is None else size]
    leaves = [
        leaf_of(digest_bytes(Committed(0, read_export_line(line)).at(position)))
        for position, line in enumerate(taken, 1)
    ]
    note: Note = key.sign(Checkpoint(key.verifier.name, len(taken), root_of(leaves)).text)
    return str(note)


def ends(lines: Lines) -> list[int]:
    """The sizes at which a save ended."""
    causes = [json.loads(line)["cause"] for line in lines]
    return [n for n, cause in enumerate(causes, 1) if cause["index"] == cause["of"]]


def write(
    name: str,
    lines: Sequence[bytes],
    expected: dict[str, Any],
    *,
    checkpoint: str | None = None,
    kept: str | None = None,
) -> None:
    """One folder."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "log.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    (folder / "checkpoint").write_text(signed(LINES) if checkpoint is None else checkpoint)
    (folder / "kept").write_text("\n".join(signed(LINES, size) for size in ends(LINES)[:-1]) if kept is None else kept)
    (folder / "vkey").write_text(f"{KEY.verifier}\n")
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def found(code: str, status: int, position: int | None, says: str) -> dict[str, Any]:
    """What verifying must answer."""
    return {"code": code, "status": status, "position": position, "says": says}


def payloads() -> None:
    """What an event says was changed."""
    run = at(LINES, type="RunIngested")

    def faster(event: Event) -> None:
        event["data"]["manifest"]["spec"]["timing"]["latencyNs"]["median"] = 50

    def consistently(event: Event) -> None:
        faster(event)
        spec = {field: event["data"]["manifest"][field] for field in ("apiVersion", "kind", "spec")}
        event["data"]["digest"] = digest = digest_of(canonical_json(spec))
        event["data"]["primary"]["value"] = "50"
        event["stream"] = f"run/{digest}"

    one = [*LINES]
    one[run] = changed(LINES[run], faster)
    write("payload-altered", one, found("PAYLOAD_ALTERED", 21, run + 1, f"event {run + 1} holds a record of digest"))
    one[run] = changed(LINES[run], consistently)
    first = max(end for end in ends(LINES) if end <= run) + 1
    says = f"one of the events {first} to {min(end for end in ends(LINES) if end > run)} is not what was signed"
    write("payload-and-hash-altered", one, found("EVENT_ALTERED", 22, first, says))
    one[run] = LINES[run].replace(b'":', b'": ', 1)
    write(
        "not-canonical", one, found("NOT_AN_EVENT", 20, run + 1, f"line {run + 1} is no event: it is not in canonical")
    )
    alone = at(LINES, type="SourceRegistered")
    one = [*LINES]
    one[alone] = changed(LINES[alone], lambda event: event.update(recordedAt="2026-01-01T00:00:00.000000Z"))
    says = f"event {alone + 1} is not what was signed; up to event {alone} all are"
    write("recorded-at-of-a-whole-save-altered", one, found("EVENT_ALTERED", 22, alone + 1, says))
    inside = at(LINES, type="ManifestRegistered") + 2
    one = [*LINES]
    one[inside] = changed(LINES[inside], lambda event: event.update(recordedAt="2026-01-01T00:00:00.000000Z"))
    says = f"event {inside + 1} has recordedAt '2026-01-01T00:00:00.000000Z'"
    write("recorded-at-altered", one, found("TIME_ALTERED", 30, inside + 1, says))
    one[inside] = changed(LINES[inside], lambda event: event.update(actor="mallory"))
    write("actor-altered", one, found("ACTOR_ALTERED", 31, inside + 1, f"event {inside + 1} has actor 'mallory'"))


def sequences() -> None:
    """Events were taken away, added, or moved."""
    size, inside = len(LINES), at(LINES, type="ManifestRegistered") + 2
    end = ends(LINES)[-2]
    says = f"the log ends behind event {end}: of {size} that were signed, the last {size - end} are missing"
    write("end-removed", LINES[:end], found("END_REMOVED", 23, end, says))
    says = f"between events {inside} and {inside + 1} at least one is missing"
    write("event-removed", LINES[:inside] + LINES[inside + 1 :], found("EVENT_REMOVED", 24, inside + 1, says))
    alone = at(LINES, type="SourceRegistered")
    says = "has version 2 of source/tern-board, which is at version 0: the event before it in that stream is missing"
    write("save-removed", LINES[:alone] + LINES[alone + 1 :], found("EVENT_REMOVED", 24, alone + 1, says))
    write("start-removed", LINES[1:], found("START_REMOVED", 25, 1, "the log begins with log and not with LogOpened"))
    one = [*LINES]
    one[inside], one[inside + 1] = one[inside + 1], one[inside]
    says = f"stands in the place of event {inside + 2}"
    write("neighbours-swapped", one, found("EVENTS_SWAPPED", 26, inside + 1, says))
    one = [*LINES]
    one[inside], one[inside + 3] = one[inside + 3], one[inside]
    write("events-swapped", one, found("EVENTS_SWAPPED", 26, inside + 1, f"stands in the place of event {inside + 4}"))
    forged = changed(
        LINES[alone],
        lambda event: event.update(
            stream="source/forged",
            data={**event["data"], "slug": "forged"},
            cause={"request": "forged", "index": 1, "of": 1},
        ),
    )
    says = "stands inside the save of others: it was inserted"
    write("event-inserted", [*LINES[:inside], forged, *LINES[inside:]], found("EVENT_INSERTED", 27, inside + 1, says))
    says = f"event {inside + 2} (manifest/"
    repeated = [*LINES[: inside + 1], LINES[inside], *LINES[inside + 1 :]]
    write("event-repeated", repeated, found("EVENT_REPEATED", 28, inside + 2, f"is event {inside + 1} again"))
    later = [*LINES[:end], LINES[alone], *LINES[end:]]
    write("save-repeated", later, found("EVENT_REPEATED", 28, end + 1, f"it is event {alone + 1} again"))
    one = [*LINES]
    revised = at(LINES, type="SourcePolicyRevised")
    one[revised] = changed(LINES[revised], lambda event: event.update(version=3))
    says = "has version 3 of source/tern-board, which is at version 1: version 2 is nowhere"
    write("version-skipped", one, found("VERSION_SKIPPED", 29, revised + 1, says))


def erasures() -> None:
    """A payload is gone, and the log doesn't say why."""
    run, one = at(LINES, type="RunIngested"), [*LINES]
    one[run] = export_line(Committed(0, erased(Committed(0, read_export_line(LINES[run])).at(run + 1))).at(run + 1))
    says = f"the payload of event {run + 1} is erased, and no EventErased says why"
    write("erased-without-event", one, found("ERASED_WITHOUT_EVENT", 32, run + 1, says))


def checkpoints() -> None:
    """The log is whole; what was signed is not what it should be."""
    says = "the checkpoint is of the log 'elsewhere.example/log', the key of 'example.org/log'"
    other = signed(LINES, key=ELSEWHERE)
    write("checkpoint-of-another-origin", LINES, found("OTHER_ORIGIN", 11, None, says), checkpoint=other)
    says = "is not signed by the key example.org/log+"
    write(
        "checkpoint-of-another-key", LINES, found("OTHER_KEY", 12, None, says), checkpoint=signed(LINES, key=OTHER_KEY)
    )
    forged = signed(LINES).replace(f"\n{len(LINES)}\n", f"\n{len(LINES) + 1}\n")
    says = f"the signature of the checkpoint over {len(LINES) + 1} events doesn't hold"
    write("checkpoint-altered", LINES, found("BAD_SIGNATURE", 13, None, says), checkpoint=forged)
    write(
        "checkpoint-unreadable",
        LINES,
        found("CHECKPOINT_UNREADABLE", 10, None, "this is not a signed note"),
        checkpoint="all is well\n",
    )
    size = ends(LINES)[-3]
    says = f"the checkpoint covers {size} events, one that you kept {len(LINES)}"
    older, all_kept = signed(LINES, size), signed(LINES)
    write("rolled-back", LINES[:size], found("ROLLED_BACK", 14, None, says), checkpoint=older, kept=all_kept)
    fork = [*LINES]
    alone = at(LINES, type="SourceRegistered")
    fork[alone] = changed(LINES[alone], lambda event: event["data"].update(name="Another Board"))
    says = f"the log was forked: its first {alone + 1} events are not those of the checkpoint that you kept"
    write("forked", fork, found("FORKED", 15, alone + 1, says), checkpoint=signed(fork))


def view() -> None:
    """The log is whole; somebody wrote into what is shown of it."""
    says = f"view runs: the row of {RUN.digest} was altered"  # type: ignore[union-attr]
    write("view-edited", LINES, found("VIEW_ALTERED", 33, None, says))
    edit = f"""UPDATE runs SET doc = replace(doc, '"100"', '"1"') WHERE digest = '{RUN.digest}';\n"""  # type: ignore[union-attr]
    (HERE / "view-edited" / "edit.sql").write_text(edit)


if __name__ == "__main__":
    write("untampered", LINES, {"code": None, "status": 0, "position": None, "says": f"{len(LINES)} events"})
    for make in (payloads, sequences, erasures, checkpoints, view):
        make()
