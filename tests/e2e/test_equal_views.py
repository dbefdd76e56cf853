"""The whole catalog gives the same views, whichever way they come to be. (Of made-up histories: test_replay.py.)"""

from contextlib import closing
from pathlib import Path
from random import Random

from domain.audit.notes import Checkpoint
from projections.digests import view_digests
from projections.views import open_reader, open_writer, path_in
from service.app import Index, open_index
from service.audit.exporting import exported
from service.audit.rebuilding import rebuild_views
from service.audit.verifying import verify
from service.importing.jobs import import_into
from service.settings import Settings
from tests.projections.test_replay import replayed, save_ends

SOME_CUTS = 12


async def imported_live(index: Index, file: Path) -> dict[str, str]:
    """The digests of the views that followed the import while it went on."""
    assert (await import_into(index, [file], batch=200)).refused == []
    await index.follower.wait_for(index.log.latest())
    return await index.views.read(view_digests)


async def verified(index: Index, file: Path) -> dict[str, str]:
    """The digests that ``audit verify`` works out from an exported log alone."""
    with file.open("wb") as out:
        out.writelines(exported(index.log))
    found = verify(file, Checkpoint.of(await index.proving.checkpoint()), digests=True)
    assert found.views
    return found.views


async def test_live_catch_up_rebuild_and_offline_replay_give_equal_views(shared: Path, tmp_path: Path) -> None:
    seed = Random().randrange(10**6)
    print(f"seed {seed}")
    (file,) = (shared / "data" / "catalog").glob("*.jsonl.zst")
    data = tmp_path / "data"
    async with open_index(Settings(data_dir=data)) as index:
        live = await imported_live(index, file)
        log = index.log.read(0, 10**6)
        ends = save_ends(log)
        some = sorted({*Random(seed).sample(ends, SOME_CUTS), ends[-1]})

        with closing(open_writer(tmp_path / "caught-up.db")) as db:
            assert replayed(db, log, some) == live
        assert await verified(index, tmp_path / "log.jsonl") == live

    await rebuild_views(data)
    with closing(open_reader(path_in(data))) as rebuilt:
        assert view_digests(rebuilt) == live
