"""The log as any tlog-tiles client reads it: checkpoint, tiles and entries fit each other."""

from pathlib import Path

import pytest

from domain.audit.merkle import leaf_hash, root_of
from domain.audit.notes import Checkpoint, Note, VerifierKey
from domain.audit.tiles import Tile
from domain.principals import Scope
from service.signatures import verify
from tests.examples import bundle
from tests.service.api.asking import tree_of
from tests.service.site import asked, site


async def test_a_client_that_knows_the_key_alone_can_check_the_whole_log(tmp_path: Path) -> None:
    async with site(tmp_path) as (served, client):
        _, headers = served.key(Scope.INGEST)
        await client.post("/ingest", json=tree_of(bundle()), headers={**headers, "Idempotency-Key": "one"})
        key = VerifierKey.parse((await client.get("/vkey")).text)
        answer = await client.get("/checkpoint")
        note = Note.parse(answer.text)
        size = Checkpoint.of(note).size
        hashes = await client.get(f"/tile/{Tile(0, 0, size).path}")
        entries = await client.get(f"/tile/{Tile(None, 0, size).path}")

        assert note.is_signed(key, verify)
        leaves = [hashes.content[start : start + 32] for start in range(0, len(hashes.content), 32)]
        assert len(leaves) == size > 3
        assert root_of(leaves) == Checkpoint.of(note).root
        assert [leaf_hash(entries.content[start + 2 : start + 73]) for start in range(0, size * 73, 73)] == leaves
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert hashes.headers["content-type"] == "application/octet-stream"
        assert "immutable" in hashes.headers["cache-control"]
        assert "immutable" not in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["0/000", "0/000.p/200", "1/000.p/1", "0/0", "entries/001.p/1", "63/000"])
async def test_a_tile_that_is_not_there_yet_or_never_is_not_found(tmp_path: Path, path: str) -> None:
    async with site(tmp_path) as (_, client):
        answer = await client.get(f"/tile/{path}")
        assert answer.status_code == 404
        assert answer.json()["errors"][0]["extensions"]["code"] == "NOT_FOUND"


async def test_a_checkpoint_that_is_refused_is_an_error_with_its_code(tmp_path: Path) -> None:
    async with site(tmp_path) as (_, client):
        await client.get("/checkpoint")
        kept = tmp_path / "checkpoint"
        kept.write_text(kept.read_text().replace("kernelindex.localhost", "kernelindex.elsewhere"))
    async with site(tmp_path) as (_, client):
        answer = await client.get("/checkpoint")
        assert answer.status_code == 503
        assert answer.json()["errors"][0]["extensions"]["code"] == "CHECKPOINT_REFUSED"
        assert (await asked(client, "{ stamp { position } }")).json()["data"]["stamp"]["position"] > 0
