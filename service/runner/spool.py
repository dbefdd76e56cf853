"""What a runner must not forget when it is killed: the request that it has taken, and a result not yet recorded.

It is one small file beside the key, always whole: written aside, synced and renamed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from domain.errors import Conflict
from service.data_folder import PRIVATE
from service.logs import Log

_logger = Log("runner")


class Taken(msgspec.Struct, frozen=True, kw_only=True, tag="taken"):
    """A request that the runner wants to have started, in the log of that id."""

    log_id: str
    rerun: str
    run: str


class Result(msgspec.Struct, frozen=True, kw_only=True, tag="result"):
    """What was measured and signed: manifests as text, the signature in base64. Retries send these very bytes."""

    log_id: str
    rerun: str
    run: str
    digest: str
    manifest: str
    environment: str | None
    signature: str


Entry = Taken | Result
_DECODER: Final = msgspec.json.Decoder(Entry)


class Spool:
    """The file ``KEY.spool``. It holds one entry or none."""

    def __init__(self, key: Path) -> None:
        self.path = key.with_name(f"{key.name}.spool")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Have it alone. Raises :class:`Conflict` where another runner has it; the system lets go of it at a kill."""
        with self.path.with_name(f"{self.path.name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Conflict.because(
                    "another runner is at work with this key",
                    document=str(self.path),
                    remedy="stop that one, or give each runner a key of its own",
                ) from None
            yield

    def entry(self) -> Entry | None:
        """What it holds. What can't be read is set aside, and said in the log of the runner."""
        try:
            return _DECODER.decode(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except msgspec.MsgspecError as error:
            aside = self.path.with_name(f"{self.path.name}.broken")
            self.path.replace(aside)
            _logger.warning("the spool is broken", error=str(error), kept_as=str(aside))
            return None

    def put(self, entry: Entry) -> None:
        """Keep this entry in place of any other."""
        unfinished = self.path.with_name(f"{self.path.name}.new")
        descriptor = os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(entry))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self.path)
        self._sync_folder()

    def clear(self) -> None:
        """Keep nothing."""
        self.path.unlink(missing_ok=True)
        self._sync_folder()

    def _sync_folder(self) -> None:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
