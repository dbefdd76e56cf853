"""``kernelindex audit``: export the log, prove what is in it, verify it without its server, keep its checkpoints."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from domain.audit.findings import Tampered
from domain.audit.notes import VerifierKey
from domain.errors import InvalidInput, NotFound
from service.app import Index, open_index
from service.audit.checkpoints import read_checkpoints
from service.audit.citing import check_proof
from service.audit.exporting import exported
from service.audit.verified import Verified
from service.audit.verifying import verify
from service.audit.witnessing import Origin, append_checkpoint
from service.cli.output import print_json
from service.data_folder import require_log
from service.event_log import EventLog
from service.logs import quiet_logs
from service.settings import Settings

app = App(
    name="audit",
    help="Export the log, prove what is in it, and verify it.\n\nVerifying needs no server and no data folder.",
    help_format="plaintext",
    default_parameter=Parameter(negative=""),
)

Key = Annotated[str, Parameter(help="The verifier key of the log, as `audit key` prints it, or a file that holds it.")]
AsJson = Annotated[bool, Parameter(help="Print JSON.", show_default=False)]
STDOUT: Final = Path("-")


@app.command
def export(
    file: Annotated[Path, Parameter(help="Where to write it; - for standard output.")] = STDOUT,
    /,
    *,
    until: Annotated[int | None, Parameter(help="The last position to export.", show_default=False)] = None,
) -> None:
    """Write the log as JSON Lines: each line the canonical bytes of an event."""
    log = EventLog(require_log(Settings().data_dir))
    try:
        if file == STDOUT:
            for line in exported(log, until):
                sys.stdout.buffer.write(line)
            return
        unfinished = file.with_name(file.name + ".new")
        with unfinished.open("wb") as out:
            out.writelines(exported(log, until))
        unfinished.rename(file)
    finally:
        log.close()


@app.command(name="verify")
def verify_log(
    log: Annotated[Path, Parameter(help="The exported log.")],
    /,
    *,
    checkpoint: Annotated[Path, Parameter(help="The file of the checkpoint; of several in it the last.")],
    key: Key,
    kept: Annotated[
        Sequence[Path],
        Parameter(help="A file of earlier checkpoints, kept by you; once for each.", show_default=False),
    ] = (),
    digests: Annotated[bool, Parameter(help="Print the digest of each view too.", show_default=False)] = False,
    json: AsJson = False,
) -> int:
    """Verify an exported log: signature, every event, the tree, the order, and all that follows from it.

    The exit status is 0 if all is well; each tampering has its own.
    """
    try:
        verifier = _key(key)
        earlier = read_checkpoints(checkpoint, verifier)
        known = [*earlier[:-1], *(one for file in kept for one in read_checkpoints(file, verifier))]
        found = verify(log, earlier[-1], known, digests=digests)
    except Tampered as tampered:
        return report(tampered, as_json=json)
    _print(found, as_json=json)
    return 0


@app.command
async def prove(
    what: Annotated[str, Parameter(name="WHAT", help="A position, or the id of a run.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Where to write the proof; - for standard output.")] = STDOUT,
) -> None:
    """Write a proof that an event is in the log: a .tlog-proof file that needs nobody to be checked."""
    quiet_logs()
    require_log(Settings().data_dir)
    async with open_index(Settings(), follow=False) as index:
        text = str(await index.proving.tlog_proof(await _position(index, what)))
    if out == STDOUT:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


@app.command(name="check-citation")
def check_citation(
    file: Annotated[Path, Parameter(help="A .tlog-proof file.")], /, *, key: Key, json: AsJson = False
) -> int:
    """Check offline that the event in a .tlog-proof file is in the log of this key."""
    try:
        found = check_proof(file.read_text(encoding="utf-8"), _key(key))
    except Tampered as tampered:
        return report(tampered, as_json=json)
    if json:
        print_json(found)
    else:
        for name, value in found.items():
            sys.stdout.write(f"{name}: {value}\n")
    return 0


@app.command
async def checkpoint(
    *,
    server: Annotated[
        str | None, Parameter(help="The address of an index; else the one in the data folder.", show_default=False)
    ] = None,
    key: Annotated[
        str | None, Parameter(help="The verifier key, or its file; needed with --server.", show_default=False)
    ] = None,
    append: Annotated[
        Path | None,
        Parameter(help="A file of checkpoints: the new one must extend its last, and is added.", show_default=False),
    ] = None,
) -> int:
    """Print the newest checkpoint; with --append keep it, after checking that it extends the last one kept."""
    quiet_logs()
    if server and not key:
        raise InvalidInput.because(
            "a server's checkpoint can't be believed without its key", path="--key", remedy="give the verifier key"
        )
    verifier = _key(key) if key else None
    try:
        if server:
            async with Origin.at(server) as origin:
                note = await append_checkpoint(origin, verifier, append)
        else:
            require_log(Settings().data_dir)
            async with open_index(Settings(), follow=False) as index:
                note = await append_checkpoint(Origin.of(index), verifier, append)
    except Tampered as tampered:
        return report(tampered, as_json=False)
    sys.stdout.write(note)
    return 0


@app.command
async def key() -> None:
    """Print the verifier key of the log in the data folder: publish it, in more than one place."""
    quiet_logs()
    async with open_index(Settings(), follow=False, level=False) as index:
        sys.stdout.write(f"{index.proving.verifier}\n")


def _key(text: str) -> VerifierKey:
    """The key itself, or the one in the file of that name."""
    with suppress(OSError, ValueError):
        if Path(text).is_file():
            text = Path(text).read_text(encoding="utf-8")
    return VerifierKey.parse(text)


async def _position(index: Index, what: str) -> int:
    if what.isascii() and what.isdecimal():
        return int(what)
    from service.api.execute import execute  # noqa: PLC0415 only here: the schema takes its time to load

    response = await execute(index, "query($id: ID!) { run(id: $id) { position } }", {"id": what})
    run = (response.get("data") or {}).get("run")
    if not run:
        raise NotFound.because(f"{what[:100]!r} is no position and names no run", remedy="give one of them")
    return int(run["position"])


def report(tampered: Tampered, *, as_json: bool) -> int:
    """Say what was found; answers the exit status that stands for it."""
    kind = tampered.kind
    if as_json:
        print_json(
            {
                "verified": False,
                "code": kind.name,
                "status": int(kind),
                "position": tampered.position,
                "message": str(tampered),
                "remedy": tampered.remedy,
            }
        )
    else:
        sys.stderr.write(f"{kind.name}: {tampered}\nWhat to do: {tampered.remedy}.\n")
    return int(kind)


def _print(found: Verified, *, as_json: bool) -> None:
    if as_json:
        print_json({"verified": True, **found.to_json()})
        return
    for line in found.lines():
        sys.stdout.write(f"{line}\n")
