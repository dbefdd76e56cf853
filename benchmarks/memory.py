"""What a server holds in memory over a data folder, once it has answered what its pages and readers ask for.

Run as `python benchmarks/memory.py FOLDER`.
"""

import sys
from pathlib import Path

import httpx
import psutil
from graphql_servers import free_port, ours, questions
from rows import Row, tell

CACHE_BYTES = 32 * 1024 * 1024
PAGES = 300


def main(folder: Path) -> None:
    """Ask, and say what it holds."""
    asked = questions(next(folder.glob("views-*.db")))
    with ours(folder, free_port(), CACHE_BYTES) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        for question in asked:
            for body in question.bodies():
                headers = {"Content-Type": "application/json"}
                client.post("/graphql", content=body, headers=headers, timeout=60).raise_for_status()
        for one in asked[0].variables[:PAGES]:
            page = f"/runs/{str(one['id']).removeprefix('sha256:')}"
            client.get(page, headers={"Accept": "text/html"}, timeout=60).raise_for_status()
        (process,) = {
            one.pid for one in psutil.net_connections("tcp") if one.status == "LISTEN" and one.laddr.port == port
        }
        held = psutil.Process(process).memory_info().rss / 1e6
    tell(Row("memory", "served: resident after queries and pages, MB", held, 250, "at most"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
