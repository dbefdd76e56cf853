"""The loop of a runner: finish what was begun, then take one open request after the other.

A kill at any moment loses nothing that was measured and records nothing twice. The spool is written before a request is
started and before a result is sent, and emptied when the index has answered; recording is idempotent.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import msgspec

from domain.commands.rerun_results import statement
from domain.errors import Conflict, ErrorCode, Forbidden, InvalidInput, KernelIndexError, NotFound
from domain.manifests import Manifest
from service.logs import Log
from service.runner.bell import Ringing, Silence
from service.runner.harness import HarnessFailed, Measured, Task
from service.runner.key_file import public_text
from service.runner.spool import Entry, Result, Spool, Taken
from service.runner.stopping import Stop, Stopped
from service.runner.work import Index, Measuring, Request, Standing, Unreachable
from service.signatures import PrivateKey, sign

STOPPED: Final = "the runner was stopped"
MOST_REASON: Final = 500
RENEWALS_A_LEASE: Final = 3
SHORTEST_BEAT_S: Final = 0.2

_logger = Log("runner")


class Runner:
    """A runner at work on one index."""

    def __init__(
        self,
        index: Index,
        harness: Measuring,
        spool: Spool,
        key: PrivateKey,
        stop: Stop,
        *,
        hang_up: Callable[[str], AbstractContextManager[Ringing]] = lambda _hardware: nullcontext(Silence()),
    ) -> None:
        self._index = index
        self._harness = harness
        self._spool = spool
        self._key = key
        self._stop = stop
        self._hang_up = hang_up
        self._given_up: set[str] = set()

    def run(self, *, poll_s: float, once: bool = False) -> None:
        """Work until it is told to stop, or until one request is done with. Raises what makes going on senseless.

        Where nothing is to be done it waits for the bell, which ``hang_up`` makes for the runner's hardware, and looks
        by itself every ``poll_s`` seconds.
        """
        try:
            self._standing = self._checked(self._index.standing())
            done = self._finish(self._spool.entry())
            pause_s = 0.0
            with self._hang_up(self._standing.hardware) as bell:
                while not (once and done) and not self._stop.wait(pause_s, *bell.files()):
                    bell.clear()
                    done = any(self._begin(self._taken(request)) for request in self._fitting())
                    pause_s = 0.0 if done else poll_s
        except Stopped:
            pass
        kept = self._spool.entry()
        _logger.info("stopped", kept=kept.rerun if kept else None)

    def _checked(self, standing: Standing) -> Standing:
        """Refuse to measure what the index would not take."""
        if standing.suspended:
            raise Forbidden.because("this runner is suspended", remedy="ask an administrator to approve another")
        if standing.operator != standing.principal:
            raise Forbidden.because(
                f"this runner belongs to {standing.operator}, the API key to {standing.principal}",
                remedy="use a key of its operator",
            )
        if standing.public_key != public_text(self._key):
            raise Forbidden.because(
                "the index has approved this runner with another key",
                path="--key",
                remedy="give the key that was approved, or have this one approved as a new runner",
            )
        return standing

    def _finish(self, kept: Entry | None) -> bool:
        """Go on where an earlier life of this runner was killed. Answers whether a request is done with."""
        if kept is None:
            return False
        if kept.log_id != self._standing.log_id:
            raise Conflict.because(
                f"holds work for the log {kept.log_id}, the index has the log {self._standing.log_id}",
                document=str(self._spool.path),
                remedy="run it with the --server of that log, or remove the file to give that work up",
            )
        _logger.info("going on", rerun=kept.rerun, run=kept.run, measured=isinstance(kept, Result))
        return self._record(kept) if isinstance(kept, Result) else self._begin(kept)

    def _fitting(self) -> Iterator[Request]:
        """The requests that this runner may and can do, oldest first."""
        for request in self._index.open_requests(self._standing.hardware):
            own = self._standing.principal in request.parties
            fits = request.hardware == self._standing.hardware
            if fits and not own and request.rerun not in self._given_up:
                yield request

    def _taken(self, request: Request) -> Taken:
        return Taken(log_id=self._standing.log_id, rerun=request.rerun, run=request.run)

    def _begin(self, taken: Taken) -> bool:
        """Measure and record a request. Answers whether it is done with: recorded or given back, by this runner."""
        manifests = self._index.manifests(taken.run)
        if manifests is None:
            self._given_up.add(taken.rerun)
            self._spool.clear()
            _logger.info("skipped", rerun=taken.rerun, run=taken.run, reason="not all that it names is registered")
            return False
        self._spool.put(taken)
        try:
            lease_s = self._index.start(taken.rerun)
            _logger.info("started", rerun=taken.rerun, run=taken.run, lease_s=lease_s)
            result = self._measure(taken, manifests, lease_s)
        except (Conflict, NotFound) as error:
            return self._lost(taken, error)
        except HarnessFailed as failure:
            return self._give_back(taken, str(failure))
        except Stopped:
            self._let_go(taken)
            raise
        self._spool.put(result)
        return self._record(result)

    def _measure(self, taken: Taken, manifests: Mapping[str, msgspec.Raw], lease_s: float) -> Result:
        def beat() -> float:
            try:
                return _interval_s(self._index.renew(taken.rerun))
            except Unreachable as error:
                # A result is taken late too, if nobody else has started the request meanwhile.
                _logger.warning("lease not renewed", rerun=taken.rerun, error=str(error))
                return _interval_s(lease_s)

        task = Task(rerun=taken.rerun, run=taken.run, log_id=taken.log_id, manifests=manifests)
        measured = self._harness.measure(task, every_s=_interval_s(lease_s), beat=beat)
        self._require_fit(measured, taken.run, manifests)
        return self._signed(taken, measured)

    def _require_fit(self, measured: Measured, run: str, manifests: Mapping[str, msgspec.Raw]) -> None:
        """Refuse here what the index would refuse, or could make nothing of."""
        claim = msgspec.json.decode(manifests["run"])["spec"]
        spec, environment = measured.run.spec, measured.environment
        if measured.run.digest == run:
            raise HarnessFailed("the harness printed the claim itself")
        for field in ("implementationDigest", "workloadDigest"):
            if spec[field] != claim[field]:
                raise HarnessFailed(f"the harness measured another case: {field} is {spec[field]}")
        stated = spec["environmentDigest"]
        if environment and environment.digest != stated:
            raise HarnessFailed(f"the harness names the environment {stated} and prints {environment.digest}")
        if not environment and stated != claim["environmentDigest"] and not self._index.is_registered(stated):
            raise HarnessFailed(f"the harness names the environment {stated}, which nobody has registered")

    def _signed(self, taken: Taken, measured: Measured) -> Result:
        digest = measured.run.digest
        message = statement(log_id=taken.log_id, rerun=taken.rerun, run=taken.run, manifest_digest=digest)
        return Result(
            log_id=taken.log_id,
            rerun=taken.rerun,
            run=taken.run,
            digest=digest,
            manifest=_text(measured.run),
            environment=_text(measured.environment) if measured.environment else None,
            signature=base64.b64encode(sign(self._key, message)).decode(),
        )

    def _record(self, result: Result) -> bool:
        try:
            outcome = self._index.record(result)
        except (Conflict, NotFound) as error:
            return self._lost(result, error)
        except KernelIndexError as error:
            if not isinstance(error, InvalidInput) and error.problems[0].code is not ErrorCode.BODY_TOO_LARGE:
                raise
            return self._give_back(result, f"the index refused the result: {error.problems[0].message}")
        self._spool.clear()
        _logger.info("recorded", rerun=result.rerun, run=result.run, manifest=result.digest, outcome=outcome)
        return True

    def _give_back(self, entry: Entry, reason: str) -> bool:
        """Let others try, and don't try again oneself."""
        self._given_up.add(entry.rerun)
        try:
            self._index.abandon(entry.rerun, _plain(reason))
        except (Conflict, NotFound) as error:
            return self._lost(entry, error)
        self._spool.clear()
        _logger.warning("abandoned", rerun=entry.rerun, run=entry.run, reason=_plain(reason))
        return True

    def _let_go(self, taken: Taken) -> None:
        """Give it back at once, if that is to be had; else the next life goes on with it, or its lease runs out."""
        try:
            self._index.abandon(taken.rerun, STOPPED, patient=False)
        except (KernelIndexError, Unreachable) as error:
            _logger.warning("not given back", rerun=taken.rerun, error=str(error))
        else:
            self._spool.clear()

    def _lost(self, entry: Entry, error: KernelIndexError) -> bool:
        """Somebody else has it, or it is done: what was measured here has no place to go."""
        self._spool.clear()
        _logger.warning("lost", rerun=entry.rerun, run=entry.run, error=str(error))
        return False


def _interval_s(lease_s: float) -> float:
    """How long to wait before the lease is renewed: early enough that two tries may fail."""
    return max(lease_s / RENEWALS_A_LEASE, SHORTEST_BEAT_S)


def _plain(reason: str) -> str:
    """A reason that every index takes, whatever a harness has printed into it."""
    return "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in reason)[:MOST_REASON]


def _text(manifest: Manifest) -> str:
    return manifest.canonical.decode()
