"""Whose word counts on who asks: that of a proxy which the operator named, and nobody else's."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

QUERY = {"query": "{ __typename }"}


@contextmanager
def kernelindex_serve(folder: Path, **settings: str) -> Iterator[str]:
    """The base URL of a server that takes two requests a minute from each address."""
    given = {"DATA_DIR": str(folder), "REQUESTS_PER_MINUTE": "2", **settings}
    environment = {**os.environ, **{f"KERNELINDEX_{name}": value for name, value in given.items()}}
    command = [sys.executable, "-c", "from service.cli import main; main()", "serve", "--port", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            told = server.stdout.readline()
            found = re.search(r"http://\S+", told)
            assert found, told
            yield found[0]
        finally:
            server.terminate()
            server.wait(timeout=20)


def statuses(url: str) -> list[int]:
    """Of five requests, each said to be for another address."""
    with httpx.Client(base_url=url, transport=httpx.HTTPTransport(retries=50)) as client:
        return [
            client.post("/graphql", json=QUERY, headers={"X-Forwarded-For": f"198.51.100.{number}"}).status_code
            for number in range(5)
        ]


def test_a_process_of_this_machine_is_not_believed_by_itself(tmp_path: Path) -> None:
    """Uvicorn's own default is to believe it; then any client of a proxy that passes the header on could be anybody."""
    with kernelindex_serve(tmp_path) as url:
        assert statuses(url) == [200, 200, 429, 429, 429]


def test_a_proxy_that_the_operator_names_is(tmp_path: Path) -> None:
    with kernelindex_serve(tmp_path, TRUSTED_PROXIES="127.0.0.1") as url:
        assert statuses(url) == [200] * 5


def test_another_one_is_not(tmp_path: Path) -> None:
    with kernelindex_serve(tmp_path, TRUSTED_PROXIES="203.0.113.7") as url:
        assert statuses(url) == [200, 200, 429, 429, 429]
