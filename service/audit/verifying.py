"""Verifying an exported log without its server: nothing but the file, a checkpoint and the key that signed it.

Memory stays flat: what must be remembered of streams, and the views that are built again, are in a temporary file.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from domain.audit.continuity import Broken, WrongVersion, follows, is_one_moment, opens
from domain.audit.findings import Tampered, Tampering
from domain.audit.leaves import leaf_of
from domain.audit.merkle import Tree
from domain.audit.notes import Checkpoint
from domain.audit.records import holds
from domain.events import Committed, Recorded, type_of
from domain.facts import Erased, EventErased
from projections import coverage, saves, versions
from projections.digests import rows_that_hold, view_digests
from projections.registry import DERIVED, SHOWN
from projections.saves import UnknownPolicy
from projections.scratch import open_scratch_views
from projections.versions import open_versions
from projections.views import apply
from service.audit.checkpoints import forked, not_rolled_back
from service.audit.explaining import explain, explain_version
from service.audit.exporting import read_exported
from service.audit.verified import Verified

BATCH: Final = 2000


def verify(log: Path, checkpoint: Checkpoint, kept: Sequence[Checkpoint] = (), *, digests: bool = False) -> Verified:
    """Check an exported log against a checkpoint, and against those kept from earlier. Raises :class:`Tampered`.

    ``digests`` works out the digest of every view too.
    """
    not_rolled_back(checkpoint, kept)
    with TemporaryDirectory(prefix="kernelindex-audit-") as folder:
        found = Verified(checkpoint=checkpoint, kept=len(kept))
        with closing(_Replay(Path(folder), found, digests=digests)) as replay:
            try:
                _read(log, checkpoint, kept, replay)
            except Broken as broken:
                raise explain(log, broken, checkpoint.size) from None
            except WrongVersion as wrong:
                raise explain_version(log, wrong, checkpoint.size) from None
            replay.conclude()
        return found


def _read(log: Path, checkpoint: Checkpoint, kept: Sequence[Checkpoint], replay: "_Replay") -> None:
    promises, tree = _Promises(checkpoint, kept), Tree()
    before: Recorded | None = None
    for position, (event, digest) in enumerate(read_exported(log), 1):
        if position == 1:
            opens(event, checkpoint.origin)
        follows(before, event, position)
        holds(event, position)
        tree.append(leaf_of(digest))
        tree.completed.clear()
        promises.compare(tree)
        replay.take(event)
        before = event
    # What the versions of a stream show says more than that some event is another: it is said first.
    replay.flush()
    promises.judge(tree.size)
    if before and not before.cause.ends_save:
        raise Tampered(Tampering.END_REMOVED, f"the log breaks off inside a save, behind event {tree.size}", tree.size)


class _Promises:
    """The checkpoints, each compared with the tree as it reaches their size."""

    def __init__(self, checkpoint: Checkpoint, kept: Sequence[Checkpoint]) -> None:
        self._checkpoint = checkpoint
        self._roots = {one.size: one for one in (*kept, checkpoint)}
        self._good = 0
        self._broken: Checkpoint | None = None

    def compare(self, tree: Tree) -> None:
        """Compare the tree with what was promised of its size."""
        promise = self._roots.get(tree.size)
        if promise is None:
            return
        if tree.root() != promise.root:
            self._broken = self._broken or promise
        elif self._broken is None:
            self._good = promise.size
        elif promise is self._checkpoint:
            raise forked(self._broken)

    def judge(self, size: int) -> None:
        """Raise :class:`Tampered` where a promise was broken, of a log of ``size`` events."""
        if size < self._checkpoint.size:
            missing = self._checkpoint.size - size
            if self._broken is None:
                raise Tampered(
                    Tampering.END_REMOVED,
                    f"the log ends behind event {size}: of {self._checkpoint.size} that were signed, the last {missing}"
                    " are missing",
                    size,
                )
            where = f"events {self._good + 1} to {self._broken.size}"
            raise Tampered(
                Tampering.EVENT_REMOVED, f"{missing} events are missing, the first of {where}", self._good + 1
            )
        if self._broken:
            first, last = self._good + 1, self._broken.size
            where = f"event {first} is" if first == last else f"one of the events {first} to {last} is"
            raise Tampered(
                Tampering.EVENT_ALTERED,
                f"{where} not what was signed; up to event {self._good} all are",
                first,
            )


class _Replay:
    """Builds the views again, save by save, and checks what needs the whole past: versions and erasures."""

    def __init__(self, folder: Path, found: Verified, *, digests: bool) -> None:
        self._found = found
        self._digests = digests
        self._views = open_scratch_views(folder / "views.db")
        self._versions = open_versions(folder / "versions.db")
        self._head = saves.NOTHING
        self._whole: list[Recorded] = []
        self._save: list[Recorded] = []
        self._erased: set[int] = set()
        self._explained: set[int] = set()

    def close(self) -> None:
        """Close the temporary files."""
        self._versions.close()
        self._views.close()

    def take(self, event: Recorded) -> None:
        """Take the next event."""
        found = self._found
        found.events += 1
        self._save.append(event)
        if isinstance(event.fact, Erased):
            self._erased.add(found.events)
        elif isinstance(event.fact, EventErased):
            self._explained.add(event.fact.position)
        if event.cause.ends_save:
            is_one_moment(self._save, found.events - len(self._save) + 1)
            found.saves += 1
            found.types.update(type_of(one.fact) for one in self._save)
            self._whole += self._save
            self._save = []
            if len(self._whole) >= BATCH:
                self.flush()

    def flush(self) -> None:
        """Apply the whole saves that were taken. Raises :class:`Tampered`."""
        if not self._whole:
            return
        self._count_versions()
        first = self._head.position + 1
        committed = [Committed(position, event) for position, event in enumerate(self._whole, first)]
        try:
            self._head = apply(self._views, self._head, committed, SHOWN if self._digests else DERIVED)
        except UnknownPolicy:
            raise
        except Exception as error:
            # Whatever a forged event makes a read model stumble over.
            last = first + len(committed) - 1
            raise Tampered(
                Tampering.EVENT_ALTERED, f"events {first} to {last} can't be replayed: {error!r}", first
            ) from error
        self._whole = []

    def conclude(self) -> None:
        """What can be said once all was read."""
        if unexplained := self._erased - self._explained:
            raise Tampered(
                Tampering.ERASED_WITHOUT_EVENT,
                f"the payload of event {min(unexplained)} is erased, and no EventErased says why",
                min(unexplained),
            )
        found, views, rows = self._found, self._views, rows_that_hold(self._views)
        found.erased = len(self._erased)
        found.streams = versions.count(self._versions)
        found.runs, found.groups = rows["runs"], rows["rankings"]
        found.levels = coverage.levels(views)
        if self._digests:
            found.views = view_digests(views)

    def _count_versions(self) -> None:
        """Check that each stream's versions follow one another."""
        reached = versions.versions_of(self._versions, {event.originator_id for event in self._whole})
        for position, event in enumerate(self._whole, self._head.position + 1):
            expected = reached.get(event.originator_id, 0) + 1
            if event.originator_version != expected:
                raise WrongVersion(position, event, expected)
            reached[event.originator_id] = expected
        versions.keep(self._versions, reached)
