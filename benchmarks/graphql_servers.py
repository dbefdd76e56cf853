"""Our server beside the GraphQL servers of Node, over the same data, in one run.

All of them read the same SQLite file by the same SQL, and their answers are compared before anything is timed. Each is
pinned to one core, the load to another. They are visited in turn, and what counts are the medians of the ratios in each
round, so that what else the machine does falls on all alike. Uncached, each request has other variables than the ones
before it and our response cache is off; hits are one request again and again, against an ASGI application that answers
the same bytes and does nothing else.

It needs Node 20 or newer and npm; ``ROUNDS`` and ``SECONDS`` in the environment make it longer.
"""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rows import Row as Measured
from rows import tell

HERE = Path(__file__).parent
NODE = HERE / "node"
ROUNDS = int(os.environ.get("ROUNDS", "7"))
SECONDS = float(os.environ.get("SECONDS", "2"))
CONNECTIONS = 16
VARIED = 500
RIVALS = ("mercurius", "apollo", "yoga")

Q1 = """query Q1($id: ID!) { run(id: $id) {
  digest shortId status observedAt publishedAt externalId workloadLabel correctnessText
  primary { metric statistic unit value formatted } evidence { level contested } ranking { rank tied groupSize }
  implementation { name revision language } operation { slug name } protocol { harness }
  environment { hardware { product vendor } } source { name } } }"""
Q2 = """query Q2($key: Digest!) { ranking(comparisonKey: $key) { size metric unit operation { name }
  entries(first: 50) { nodes { rank tied value
    run { digest shortId observedAt primary { formatted } evidence { level } implementation { name } } } } } }"""
Q3 = """query Q3($to: DateTime!) { runs(first: 100, filter: {observedTo: $to}) { pageInfo { hasNextPage } nodes {
  digest shortId status observedAt workloadLabel primary { value formatted } evidence { level }
  implementation { name } operation { name } } } }"""
TARGETS = {"uncached": 1.2, "hits": 0.6}


class Question(NamedTuple):
    """A query and the variables of the requests that ask it."""

    name: str
    query: str
    variables: Sequence[Mapping[str, Any]]

    def bodies(self) -> list[str]:
        """The bodies of its requests."""
        return [json.dumps({"query": self.query, "variables": one}) for one in self.variables]


def questions(views: Path) -> list[Question]:
    """The three queries, with variables that the data knows."""
    with sqlite3.connect(views) as db:
        runs = [one for (one,) in db.execute("SELECT digest FROM runs WHERE to_position IS NULL ORDER BY digest")]
        keys = "SELECT comparison_key FROM rankings WHERE to_position IS NULL ORDER BY size DESC LIMIT 50"
        groups = [one for (one,) in db.execute(keys)]
        observed = [one for (one,) in db.execute("SELECT DISTINCT observed_key FROM runs ORDER BY 1 DESC LIMIT 4000")]
    moments = [f"{one[:19]}Z" for one in observed[:: max(1, len(observed) // VARIED)]]
    return [
        Question("Q1: one record", Q1, [{"id": one} for one in runs[:: max(1, len(runs) // VARIED)]]),
        Question("Q2: the top 50 of a ranking", Q2, [{"key": one} for one in groups]),
        Question("Q3: the latest 100 runs", Q3, [{"to": one} for one in moments]),
    ]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def served(command: Sequence[str], port: int, **environment: str) -> Iterator[int]:
    """A server, pinned to the first core; answers its port once it takes connections."""
    with subprocess.Popen(
        [*_pinned(0), *command], env=os.environ | environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            _wait_for(port, process)
            yield port
        finally:
            process.terminate()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise SystemExit(process.stderr.read().decode() if process.stderr else "a server ended")
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("a server did not begin to listen within a minute")


def _pinned(core: int) -> list[str]:
    if not shutil.which("taskset"):
        return []
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[core % len(cores)])]


def ours(folder: Path, port: int, cache_bytes: int) -> Any:
    """Our server over a data folder."""
    program = "from service.cli import main; raise SystemExit(main())"
    return served(
        [sys.executable, "-c", program, "serve", "--port", str(port)],
        port,
        KERNELINDEX_DATA_DIR=str(folder),
        KERNELINDEX_REQUESTS_PER_MINUTE="1000000000",
        KERNELINDEX_RESPONSE_CACHE_BYTES=str(cache_bytes),
    )


def constant(file: Path, port: int) -> Any:
    """An ASGI application that answers the bytes of a file."""
    program = f"""
import uvicorn
body = open({str(file)!r}, "rb").read()
start = {{"type": "http.response.start", "status": 200, "headers": [
    (b"content-type", b"application/json; charset=utf-8"), (b"content-length", str(len(body)).encode())]}}
end = {{"type": "http.response.body", "body": body}}
async def app(scope, receive, send):
    await receive()
    await send(start)
    await send(end)
uvicorn.run(app, port={port}, log_level="warning", access_log=False, lifespan="off")
"""
    return served([sys.executable, "-c", program], port)


def ask(port: int, body: str) -> Any:
    """The data that a server answers."""
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", body.encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        answer = json.load(response)
    if answer.get("errors"):
        raise SystemExit(f"{port} answers with errors: {answer['errors']}")
    return answer["data"]


def compare(ports: Mapping[str, int], question: Question) -> None:
    """See to it that all servers answer the same."""
    for body in question.bodies()[::25]:
        expected = ask(ports["ours"], body)
        for name, port in ports.items():
            if (answer := ask(port, body)) != expected:
                raise SystemExit(f"{name} answers {question.name} otherwise:\n{answer!s:.1000}\n{expected!s:.1000}")


def rate(port: int, bodies: Sequence[str], folder: Path) -> float:
    """How many requests a second a server answers."""
    file = folder / "bodies.json"
    file.write_text(json.dumps(bodies))
    command = [*_pinned(1), "node", str(NODE / "load.mjs"), str(port), str(file), str(SECONDS), str(CONNECTIONS)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


class Row(NamedTuple):
    """What one server came to in one question: requests a second, and as a ratio."""

    question: str
    server: str
    per_s: float
    ratio: float
    target: float | None = None


def uncached(folder: Path, asked: Sequence[Question], work: Path) -> list[Row]:
    """Our server and the rivals, every request with other variables than the ones before it."""
    views = next(folder.glob("views-*.db"))
    with ExitStack() as running:
        ports = {"ours": running.enter_context(ours(folder, free_port(), 0))}
        for name in RIVALS:
            port = free_port()
            command = ["node", str(NODE / "servers.mjs"), name, str(port), str(views)]
            ports[name] = running.enter_context(served(command, port, NODE_ENV="production"))
        for question in asked:
            compare(ports, question)
        rows = []
        for question in asked:
            seen = [{name: rate(port, question.bodies(), work) for name, port in ports.items()} for _ in range(ROUNDS)]
            for name in ports:
                per_s = median(one[name] for one in seen)
                ratio = median(one[name] / one["mercurius"] for one in seen)
                rows.append(Row(question.name, name, per_s, ratio, TARGETS["uncached"] if name == "ours" else None))
        return rows


def hits(folder: Path, asked: Sequence[Question], work: Path) -> list[Row]:
    """Our server answering from its response cache, beside a constant of the same size."""
    rows = []
    with ours(folder, free_port(), 64 * 1024 * 1024) as port:
        for question in asked:
            body = question.bodies()[0]
            file = work / "constant.json"
            file.write_text(json.dumps({"data": ask(port, body)}, separators=(",", ":"), ensure_ascii=False))
            with constant(file, free_port()) as plain:
                seen = [(rate(port, [body], work), rate(plain, [body], work)) for _ in range(ROUNDS)]
            rows += [
                Row(
                    question.name,
                    "ours",
                    median(one for one, _ in seen),
                    median(one / other for one, other in seen),
                    TARGETS["hits"],
                ),
                Row(question.name, "bare ASGI constant", median(other for _, other in seen), 1.0),
            ]
    return rows


def table(rows: Sequence[Row], to: str) -> str:
    """The rows as a table."""
    lines = [f"| query | server | requests/s | × {to} | target |", "|---|---|---:|---:|---:|"]
    for row in rows:
        target = f"≥ {row.target}" if row.target else ""
        lines.append(f"| {row.question} | {row.server} | {row.per_s:,.0f} | {row.ratio:.2f} | {target} |")
    return "\n".join(lines)


def install() -> None:
    """Have npm install what the Node servers need, in its folder."""
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent"], cwd=NODE, check=True)


def measure(folder: Path) -> str:
    """Measure over the data folder; answers what is to be printed."""
    install()
    asked = questions(next(folder.glob("views-*.db")))
    with TemporaryDirectory() as work:
        first, second = uncached(folder, asked, Path(work)), hits(folder, asked, Path(work))
    for way, seen, to in (("uncached", first, "mercurius"), ("hits", second, "constant")):
        for one in seen:
            tell(Measured(f"servers, {way}", f"{one.question}: {one.server} × {to}", one.ratio, one.target))
    return f"Uncached:\n\n{table(first, 'mercurius')}\n\nHits:\n\n{table(second, 'constant')}"


if __name__ == "__main__":
    print(measure(Path(sys.argv[1])))
