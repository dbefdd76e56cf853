"""``kernelindex audit``: the log leaves as a file, is proven and verified, and its checkpoints are kept."""

import json
import shutil
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest

from domain.audit.notes import notes_in
from domain.commands import Ingest
from domain.principals import LOCAL
from projections.digests import view_digests
from projections.views import open_reader
from service.app import open_index
from service.audit.checkpoints import read_checkpoints
from service.audit.exporting import exported
from service.audit.verifying import verify
from service.settings import Settings
from tests.examples import bundle
from tests.service.api.asking import tree_of
from tests.service.cli.conftest import Command
from tests.service.cli.running import running

SAMPLE = Path(__file__).parents[2] / "fixtures/manifests"


@pytest.fixture
def filled(cli: Command, data: Path, tmp_path: Path) -> Path:
    """A data folder with a few records."""
    assert cli("import", SAMPLE).status == 0
    return data


def add(cli: Command, folder: Path, by: str) -> None:
    """Import one more run."""
    file = folder / f"{by}.json"
    file.write_text(json.dumps(tree_of(bundle(90, by=by))))
    assert cli("import", file).status == 0


@pytest.fixture
def vkey(cli: Command, filled: Path, tmp_path: Path) -> Path:
    """The file of the verifier key."""
    path = tmp_path / "vkey"
    path.write_text(cli("audit", "key").out)
    return path


def test_what_is_exported_verifies_without_the_data_folder(
    cli: Command, filled: Path, vkey: Path, tmp_path: Path
) -> None:
    log, checkpoint = tmp_path / "log.jsonl", tmp_path / "checkpoint"
    assert cli("audit", "export", log).status == 0
    checkpoint.write_text(cli("audit", "checkpoint").out)
    shutil.rmtree(filled)

    ran = cli("audit", "verify", log, "--checkpoint", checkpoint, "--key", vkey)
    assert (ran.status, ran.err) == (0, "")
    assert "signature of the checkpoint: holds" in ran.out
    assert f"{len(log.read_bytes().splitlines()):,} events" in ran.out
    assert not filled.exists()


def test_the_key_may_be_given_as_text_and_views_are_digested_on_demand(
    cli: Command, filled: Path, vkey: Path, tmp_path: Path
) -> None:
    log, checkpoint = tmp_path / "log.jsonl", tmp_path / "checkpoint"
    cli("audit", "export", log)
    checkpoint.write_text(cli("audit", "checkpoint").out)
    ran = cli("audit", "verify", log, "--checkpoint", checkpoint, "--key", vkey.read_text(), "--digests", "--json")
    answer = json.loads(ran.out)
    assert answer["verified"]
    assert answer["views"]["runs"].startswith("sha256:")
    assert answer["types"]["LogOpened"] == 1


def test_views_of_an_exported_log_are_those_that_the_index_shows(
    cli: Command, filled: Path, vkey: Path, tmp_path: Path
) -> None:
    """Live, and replayed offline from the file alone: each table has the same digest."""
    add(cli, tmp_path, "heron")
    log, checkpoint = tmp_path / "log.jsonl", tmp_path / "checkpoint"
    cli("audit", "export", log)
    checkpoint.write_text(cli("audit", "checkpoint").out)
    ran = cli("audit", "verify", log, "--checkpoint", checkpoint, "--key", vkey, "--digests", "--json")
    (views,) = filled.glob("views-*.db")
    with closing(open_reader(views)) as shown:
        assert json.loads(ran.out)["views"] == view_digests(shown)


async def test_a_log_that_is_being_written_to_is_exported_up_to_a_whole_save(filled: Path, tmp_path: Path) -> None:
    """What comes in while the lines are written is left for the next export; the earlier checkpoint still holds."""
    log, checkpoint = tmp_path / "log.jsonl", tmp_path / "checkpoint"
    async with open_index(Settings(data_dir=filled)) as index:
        checkpoint.write_text(str(await index.proving.checkpoint()))
        key, lines = index.proving.verifier, exported(index.log)
        first = next(lines)
        await index.ledger.handle([Ingest(bundle=bundle(90, by="heron"))], LOCAL)
        log.write_bytes(first + b"".join(lines))
        await index.ledger.handle([Ingest(bundle=bundle(80, by="stork"))], LOCAL)
        longer = tmp_path / "longer.jsonl"
        longer.write_bytes(b"".join(exported(index.log)))

    promised = read_checkpoints(checkpoint, key)[-1]
    assert verify(log, promised).uncovered == 0
    assert verify(longer, promised).uncovered > 0


def test_an_export_may_end_earlier_and_go_to_standard_output(process: Command, filled: Path) -> None:
    whole, two = process("audit", "export"), process("audit", "export", "--until", "2")
    assert two.out.splitlines() == whole.out.splitlines()[:2]
    assert len(whole.out.splitlines()) > 2


def test_a_proof_is_checked_offline_and_a_changed_one_refused(
    cli: Command, filled: Path, vkey: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "2.tlog-proof"
    assert cli("audit", "prove", "2", "--out", proof).status == 0
    shutil.rmtree(filled)

    ran = cli("audit", "check-citation", proof, "--key", vkey, "--json")
    assert json.loads(ran.out)["position"] == 2
    assert json.loads(ran.out)["type"] == "PolicyAdopted"
    text = proof.read_text()
    extra = next(line for line in text.splitlines() if line.startswith("extra "))
    proof.write_text(text.replace(extra, f"extra {b64encode(b'another event').decode()}"))
    ran = cli("audit", "check-citation", proof, "--key", vkey)
    assert (ran.status, ran.out) == (22, "")
    assert ran.err.startswith("EVENT_ALTERED: the event in this file is not event 2")
    proof.write_text(text.replace("index 2", "index 1").replace("index 1", "index 0"))
    assert cli("audit", "check-citation", proof, "--key", vkey).status == 22


def test_a_run_is_proven_by_its_id(cli: Command, filled: Path, vkey: Path, tmp_path: Path) -> None:
    run = bundle(90, by="heron").run
    assert run
    add(cli, tmp_path, "heron")
    proof = tmp_path / "run.tlog-proof"
    assert cli("audit", "prove", run.digest[7:20], "--out", proof).status == 0
    found = json.loads(cli("audit", "check-citation", proof, "--key", vkey, "--json").out)
    assert found["stream"] == f"run/{run.digest}"
    assert cli("audit", "prove", "ffffffff").status == 1
    assert cli("audit", "prove", "99999").status == 1


def test_kept_checkpoints_are_added_once_each_and_all_hold(
    cli: Command, filled: Path, vkey: Path, tmp_path: Path
) -> None:
    kept, log = tmp_path / "kept", tmp_path / "log.jsonl"
    assert cli("audit", "checkpoint", "--append", kept).status == 0
    assert cli("audit", "checkpoint", "--append", kept).status == 0
    assert len(list(notes_in(kept.read_text()))) == 1
    add(cli, tmp_path, "heron")
    assert cli("audit", "checkpoint", "--append", kept).status == 0
    cli("audit", "export", log)

    assert len(list(notes_in(kept.read_text()))) == 2
    ran = cli("audit", "verify", log, "--checkpoint", kept, "--key", vkey)
    assert "the log extends all 1" in ran.out


def test_a_witness_keeps_the_checkpoints_of_a_server(cli: Command, filled: Path, vkey: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with running("serve", "--port", "0", data=filled) as server:
        url = server.url()
        asked = ("audit", "checkpoint", "--server", url, "--key", vkey, "--append", kept)
        assert cli(*asked).status == 0
        add(cli, tmp_path, "heron")
        assert cli(*asked).status == 0
    assert len(list(notes_in(kept.read_text()))) == 2


def test_a_witness_finds_a_server_that_has_forgotten(cli: Command, filled: Path, vkey: Path, tmp_path: Path) -> None:
    """The log and the signer's memory were both put back: only who kept a checkpoint elsewhere can tell."""
    kept, copy = tmp_path / "kept", tmp_path / "copy"
    cli("audit", "checkpoint")
    shutil.copytree(filled, copy)
    add(cli, tmp_path, "heron")
    cli("audit", "checkpoint", "--append", kept)
    shutil.rmtree(filled)
    shutil.copytree(copy, filled)

    ran = cli("audit", "checkpoint", "--append", kept)
    assert (ran.status, ran.out) == (14, "")
    assert ran.err.startswith("ROLLED_BACK: ")
    add(cli, tmp_path, "stork")
    add(cli, tmp_path, "crane")
    ran = cli("audit", "checkpoint", "--append", kept)
    assert (ran.status, ran.out) == (15, "")
    assert ran.err.startswith("FORKED: ")
    assert len(list(notes_in(kept.read_text()))) == 1


def test_what_is_missing_is_said(cli: Command, data: Path, tmp_path: Path) -> None:
    for arguments in (("export",), ("prove", "1"), ("checkpoint",)):
        ran = cli("audit", *arguments)
        assert (ran.status, ran.out) == (1, "")
        assert "there is no index" in ran.err
    assert "needed" in cli("audit", "checkpoint", "--help").out
    ran = cli("audit", "checkpoint", "--server", "http://127.0.0.1:9")
    assert "can't be believed without its key" in ran.err
    ran = cli("audit", "verify", tmp_path / "no.jsonl", "--checkpoint", tmp_path / "no", "--key", "nonsense")
    assert ran.status == 1
    assert not data.exists()
