"""A served index with a claim on this machine, and runners at work on it, all as processes of their own."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from domain.bundles import bundle_of
from domain.facts import Fact
from domain.manifests import Manifest
from domain.principals import Scope
from service.event_log import EventLog
from service.keys import KeyStore
from service.keys.database import KeyDatabase
from service.runner import key_file
from tests.harness import claims
from tests.service.cli.running import Server

SUBMITTER, OPERATOR, ADMIN = "heron", "kite", "admin"
SCOPES = {SUBMITTER: [Scope.INGEST, Scope.ATTEST], OPERATOR: [Scope.RERUN], ADMIN: [Scope.ADMIN]}
EVIDENCE = """query($id: ID!) { run(id: $id) {
  evidence { level contested } lifecycle { disputes { cause blocking } }
  reruns { nodes { state abandonments { reason } result { outcome reason manifestDigest } } } } }"""


class RunnerProcess:
    """A running ``kernelindex runner run``. ``said`` is what it has logged so far."""

    def __init__(self, site: "Site", harness: Sequence[str], *options: str) -> None:
        self.said: list[dict[str, Any]] = []
        self._news = threading.Condition()
        given = ["--server", site.url, "--key", str(site.key), "--runner", site.runner, "--poll-s", "0.2", *options]
        program = [sys.executable, "-c", "from service.cli import main; main()", "runner", "run", *given]
        self._process = subprocess.Popen(
            [*program, "--", *harness],
            stderr=subprocess.PIPE,
            text=True,
            cwd=claims.ROOT,
            env=os.environ | {"KERNELINDEX_KEY": site.keys[OPERATOR]},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, event: str, timeout_s: float = 60) -> dict[str, Any]:
        """The first thing of this name that it logs."""
        with self._news:
            logged = self._news.wait_for(lambda: self._find(event), timeout_s)
        assert logged, f"no {event!r} in {self.said}"
        return logged

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send it a signal and wait for its end. Answers its exit status."""
        self._process.send_signal(number)
        return self.wait()

    def wait(self, timeout_s: float = 120) -> int:
        """Wait for its end. Answers its exit status."""
        status = self._process.wait(timeout_s)
        self._reader.join(timeout=10)
        return status

    def close(self) -> None:
        """End it whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
        self.wait()
        if self._process.stderr:
            self._process.stderr.close()

    def _find(self, event: str) -> dict[str, Any] | None:
        return next((line for line in self.said if line["event"] == event), None)

    def _read(self) -> None:
        for line in self._process.stderr or ():
            with self._news:
                self.said.append(json.loads(line) if line.startswith("{") else {"event": line.strip()})
                self._news.notify_all()


class Site:
    """The index, the keys of its people, and a runner that it has approved for this machine."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._stack = stack
        self.data = folder / "data"
        self.sources = claims.keep_sources(folder / "sources")
        self.key, self.runner = folder / "runner.key", "kite-1"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        self.keys = self._made_keys()
        self.server = self.serve()
        public = key_file.public_text(key_file.make(self.key))
        approval = {"runner": self.runner, "operator": OPERATOR, "host": "kite-host", "hardware": claims.PRODUCT}
        self.change("approveRunner", ADMIN, publicKey=public, **approval)

    def serve(self) -> Server:
        """Start the server, again after it was killed."""
        self.server = Server("serve", "--port", str(self.port), data=self.data)
        self._stack.callback(self.server.close)
        self.server.url()
        return self.server

    def run(self, harness: Sequence[str], *options: str) -> RunnerProcess:
        """Start the runner, again after it was killed."""
        process = RunnerProcess(self, harness, *options)
        self._stack.callback(process.close)
        return process

    def ask(self, query: str, by: str | None = None, **variables: Any) -> Any:
        """The data that the index answers."""
        headers = {"Authorization": f"Bearer {self.keys[by]}"} if by else {}
        body = {"query": query, "variables": variables}
        answer = httpx.post(f"{self.url}/graphql", json=body, headers=headers, timeout=30).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def change(self, mutation: str, by: str, **given: Any) -> Any:
        """The success of a mutation."""
        name = mutation[0].upper() + mutation[1:]
        shown = "__typename ... on UserError { code message path }" + (
            " ... on RequestRerunSuccess { rerun { rerunId } }" if mutation == "requestRerun" else ""
        )
        query = f"mutation($input: {name}Input!) {{ {mutation}(input: $input) {{ {shown} }} }}"
        answer = self.ask(query, by, input={**given, "idempotencyKey": f"{mutation}-{given}"[:128]})[mutation]
        assert answer["__typename"] == f"{name}Success", answer
        return answer

    def claimed(self, run: Manifest, kernel: str, family: str, environment: Manifest = claims.ENVIRONMENT) -> str:
        """Record a claim with all that it names, and ask for a rerun of it. Answers the id of the request."""
        named = (claims.implementation(kernel), claims.OPERATION, claims.WORKLOAD, claims.protocol(family), environment)
        bundle = bundle_of(*named, run)
        parts = {part.kind.value: json.loads(part.canonical) for part in (*bundle.manifests, run)}
        fields = {
            "BenchmarkRun": "run",
            "ImplementationRevision": "implementation",
            "OperationSpec": "operation",
            "WorkloadCase": "workload",
            "BenchmarkProtocol": "protocol",
            "ExecutionEnvironment": "environment",
        }
        headers = {"Authorization": f"Bearer {self.keys[SUBMITTER]}", "Idempotency-Key": run.digest}
        body = {fields[kind]: part for kind, part in parts.items()}
        answer = httpx.post(f"{self.url}/ingest", json=body, headers=headers, timeout=30)
        assert answer.status_code == 200, answer.text
        return str(self.change("requestRerun", SUBMITTER, run=run.digest)["rerun"]["rerunId"])

    def record(self, run: Manifest) -> Any:
        """What readers see of a run's evidence."""
        return self.ask(EVIDENCE, id=run.digest)["run"]

    def facts(self, stream: str) -> list[Fact]:
        """The facts of a stream, as the log holds them."""
        log = EventLog(self.data / "log.db")
        try:
            return [event.fact for event in log.load([stream])[stream]]
        finally:
            log.close()

    def _made_keys(self) -> dict[str, str]:
        database = KeyDatabase(self.data)
        try:
            store = KeyStore(database, now=lambda: datetime.now(UTC))
            return {who: store.create(principal=who, name=who, scopes=set(scopes))[1] for who, scopes in SCOPES.items()}
        finally:
            database.close()


@contextmanager
def site(folder: Path) -> Iterator[Site]:
    """A served index in the folder; all of its processes end with the context."""
    with ExitStack() as stack:
        yield Site(folder, stack)


def held_back(folder: Path, harness: Sequence[str]) -> tuple[list[str], Callable[[], int]]:
    """The harness, but waiting for the file ``go`` before it measures, and how often it was begun."""
    program = f'echo >> {folder}/begun; while [ ! -e {folder}/go ]; do sleep 0.05; done; exec "$@"'
    begun = folder / "begun"
    return ["sh", "-c", program, "sh", *harness], lambda: len(begun.read_text()) if begun.exists() else 0
