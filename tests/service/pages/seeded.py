"""A real server of an index that holds the seed records, as a reader without a key meets it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from service.settings import Settings
from service.web import create_app
from tests.service.http.serving import serving

SEEDS = Path(__file__).parents[2] / "fixtures" / "seeds"
SEED_RUN = "sha256:28c78ea8f808d1b78085d073f400abf64930109cb0ad61efd3634542aaa78a58"


@contextmanager
def seeded_index(folder: Path) -> Iterator[str]:
    """The base URL. The records come in through a server that lets anybody write; the one that stays lets nobody."""
    with serving(create_app(Settings(data_dir=folder), demo=True), lifespan=True) as url:
        for bundle in sorted(SEEDS.glob("*.bundle.json")):
            headers = {"content-type": "application/json", "idempotency-key": bundle.name}
            answer = httpx.post(f"{url}/ingest", content=bundle.read_bytes(), headers=headers).raise_for_status()
            assert answer.json()["results"][0]["created"]
    with serving(create_app(Settings(data_dir=folder)), lifespan=True) as url:
        yield url
