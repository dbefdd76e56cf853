"""Fan-out: one publisher, many subscribers, beside Node's graphql-ws and the bare cost of sending the same bytes.

The servers run in processes of their own. The bare one runs uvicorn with our WebSocket protocol, has the frames and
sends each to every socket, without GraphQL and without a subscription; that of graphql-ws executes the same selection
of the same message for each subscriber. They are visited in turn; what counts is the median of the ratios. A round is
a burst of runs, for frames per second, and single runs one after the other, for the time from a publisher's request to
each subscriber. Ours takes the runs as an ingest, records and projects them first; the others are given the messages.

Run as `python benchmarks/fan_out.py [SUBSCRIBERS ...]`; it needs Node 20 or newer and npm.
"""

import json
import multiprocessing
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from rows import Row, tell
from subscribed import NODE, Side

from tests.examples import bundle
from tests.service.api.asking import texts_of

BURST, SINGLES, ROUNDS = 100, 20, 5
INGEST = "mutation ($input: IngestRunsInput!) { ingestRuns(input: $input) { __typename } }"
Send = Callable[[], None]


class Ours(Side):
    """Our server: it is sent runs."""

    def __init__(self, subscribers: int, folder: str) -> None:
        super().__init__("kernelindex", subscribers, folder)
        self._values = iter(range(1, 10**6))

    def write(self, count: int) -> Send:
        """Send so many new runs, in one save."""
        bundles = [texts_of(bundle(next(self._values))) for _ in range(count)]
        given = {"idempotencyKey": str(random.random()), "bundles": bundles}
        body = {"query": INGEST, "variables": {"input": given}}
        return lambda: self.http.post("/graphql", json=body).raise_for_status() and None

    def frame(self) -> str:
        """One frame, as a subscriber gets it."""
        _, _, sample = self.publish(self.write(1), 1)
        return sample[sample.index(b"{") :].split(b"\x81")[0].decode()


class Told(Side):
    """Another server: it is sent what it is to tell, a line each."""

    def __init__(self, kind: str, subscribers: int, line: str) -> None:
        super().__init__(kind, subscribers, "")
        self._line = line

    def write(self, count: int) -> Send:
        """Send the line so many times."""
        body = f"{self._line}\n" * count
        return lambda: self.http.post("/", content=body).raise_for_status() and None


def measure(subscribers: int) -> dict[str, Any]:
    """Rates, ratios and delays at so many subscribers."""
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(subscribers, folder)
        before, frame = ours.memory_mb(), ours.frame()
        message = json.dumps(json.loads(frame)["payload"]["data"]["newRuns"])
        bare, node = Told("bare", subscribers, frame), Told("node", subscribers, message)
        sides: dict[str, Ours | Told] = {"ours": ours, "bare": bare, "graphql-ws": node}
        rates: dict[str, list[float]] = {name: [] for name in sides}
        delays: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(ROUNDS):
            for name, side in sides.items():
                _, came, _ = side.publish(side.write(BURST), BURST)
                rates[name].append(len(came) / (max(came) - min(came)))
                for _ in range(SINGLES):
                    delays[name] += side.publish(side.write(1), 1)[1]
        after = ours.memory_mb()
        for side in sides.values():
            side.close()

    def ratio(other: str) -> float:
        return round(statistics.median(o / b for o, b in zip(rates["ours"], rates[other], strict=True)), 2)

    return {
        "subscribers": subscribers,
        "frameBytes": len(frame),
        "framesPerSecond": {name: round(statistics.median(found)) for name, found in rates.items()},
        "ratioToGraphqlWs": ratio("graphql-ws"),
        "ratioToBare": ratio("bare"),
        "p99DeliveryMs": {
            name: round(statistics.quantiles(found, n=100)[98] * 1000, 1) for name, found in delays.items()
        },
        "memoryMb": [round(before, 1), round(after, 1)],
    }


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=NODE, check=True)
    for number in [int(text) for text in sys.argv[1:]] or [200, 1_000]:
        found = measure(number)
        print(json.dumps(found), flush=True)
        p99_ms = found["p99DeliveryMs"]
        tell(
            Row("fan-out", f"{number} subscribers: frames a second × graphql-ws", found["ratioToGraphqlWs"], 2.5),
            Row("fan-out", f"{number} subscribers: frames a second × a bare server", found["ratioToBare"]),
            Row("fan-out", f"{number} subscribers: p99 of delivery, ms", p99_ms["ours"]),
            Row("fan-out", f"{number} subscribers: p99 of delivery × a bare server", p99_ms["ours"] / p99_ms["bare"]),
        )
