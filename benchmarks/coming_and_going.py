"""Two minutes of eight writers in four processes and fifty subscribers that come and go; the server is killed thrice.

Every subscriber has to hear every position of the log that matches its filter, in order, each once.
Run as `python benchmarks/coming_and_going.py [SECONDS [KILLS]]`.
"""

import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from rows import Row, tell

from tests.e2e.coming_and_going import told


def main(seconds: float = 120, kills: int = 3) -> None:
    """Run it, and say what was heard."""
    with TemporaryDirectory() as folder:
        wanted, subscribers = asyncio.run(told(Path(folder), seconds, kills))
    exact = sum(one.heard == wanted[one.kind] for one in subscribers)
    found = {
        "seconds": seconds,
        "kills": kills,
        "runs": len(wanted["all"]),
        "subscribers": len(subscribers),
        "connections": sum(one.connections for one in subscribers),
        "messages": sum(len(one.heard) for one in subscribers),
        "exact": exact,
    }
    print(json.dumps(found), flush=True)
    tell(Row("coming and going", "subscribers that heard each position once, in order", exact, len(subscribers)))


if __name__ == "__main__":
    given = [float(text) for text in sys.argv[1:]]
    main(*given[:1], *map(int, given[1:2]))
