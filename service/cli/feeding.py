"""``kernelindex demo-feed``."""

import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http import HTTPStatus
from itertools import count
from secrets import token_hex
from typing import Annotated, Any, Final

import httpx
import msgspec
import zstandard
from cyclopts import Parameter

from service.remote import failure_of
from service.sample import FILES

MADE_UP: Final = "made up by `make demo-feed`, for watching a subscription: nobody measured it"
LOWEST, HIGHEST = Decimal("0.97"), Decimal("1.12")


def demo_feed(
    *,
    server: Annotated[str, Parameter(name="--server")] = "http://127.0.0.1:8000",
    every: float = 3.0,
    limit: int | None = None,
) -> int:
    """Add a made-up run to a running demo every few seconds, until Ctrl-C, for watching a subscription.

    The runs say that they are made up. Each is about as fast as the first record of the sample, its rival in a ranking.

    Parameters
    ----------
    server
        The address of the demo.
    every
        How many seconds there are between two runs.
    limit
        How many runs to add; without end where it is left out.
    """
    with httpx.Client(base_url=server.rstrip("/")) as http:
        for number, bundle in enumerate(made_up(random.Random(), datetime.now(UTC)), 1):  # noqa: S311 no secret
            answer = http.post("/ingest", json=bundle, headers={"Idempotency-Key": token_hex(16)})
            if answer.status_code != HTTPStatus.OK:
                raise failure_of(answer)
            nanoseconds = bundle["run"]["spec"]["timing"]["latencyNs"]["mean"]
            print(f"added {bundle['run']['metadata']['title']}: {nanoseconds:,} ns")  # noqa: T201 results
            sys.stdout.flush()
            if number == limit:
                break
            time.sleep(every)
    return 0


def made_up(chance: random.Random, now: datetime) -> Iterator[dict[str, Any]]:
    """Bundles of runs that nobody measured, after the sample's first record, each a second older than the next."""
    real = msgspec.json.decode(zstandard.ZstdDecompressor().decompressobj().decompress(FILES[1].read_bytes()))
    claimed = Decimal(real["run"]["spec"]["timing"]["latencyNs"]["mean"])
    for number in count(1):
        factor = LOWEST + (HIGHEST - LOWEST) * Decimal(chance.randrange(10_000)) / 10_000
        observed = now - timedelta(days=1) + timedelta(seconds=number)
        spec = {name: value for name, value in real["run"]["spec"].items() if name != "sourceNative"}
        spec["timing"] = {**spec["timing"], "latencyNs": {"mean": int(claimed * factor)}}
        spec["observedAt"] = observed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        title = f"Made-up run {number} · {real['operation']['metadata']['title']}"
        metadata = {"name": f"made-up-{number}", "title": title, "description": MADE_UP}
        yield {**real, "run": {**real["run"], "spec": spec, "metadata": metadata}, "record": {}}
