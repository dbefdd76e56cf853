"""One host signs, another one of the same log passes on what it has signed."""

from pathlib import Path
from typing import Any

import httpx

from domain.audit.notes import Checkpoint, Note, VerifierKey
from service.audit.citing import check_proof
from service.sample import FILES
from service.signatures import verify
from tests.e2e.test_two_processes import asked, ended, importing
from tests.service.cli.running import running

SAMPLE, SEED, _ = FILES
PROOF = "query($at: Position!) { inclusionProof(position: $at) { tlogProof } }"


def answered(client: httpx.Client, query: str, **variables: int) -> dict[str, Any]:
    response: dict[str, Any] = client.post("/graphql", json={"query": query, "variables": variables}).json()
    return response


def test_a_host_without_the_key_serves_the_signers_last_checkpoint_and_proofs_under_it(tmp_path: Path) -> None:
    ended(importing(SAMPLE, data=tmp_path))
    with running("serve", "--port", "0", data=tmp_path) as server, httpx.Client(base_url=server.url()) as signer:
        vkey = signer.get("/vkey").text.strip()
        elsewhere = running("serve", "--port", "0", data=tmp_path, KERNELINDEX_CHECKPOINT_VERIFIER=vkey)
        with elsewhere as other, httpx.Client(base_url=other.url()) as relay:
            assert relay.get("/checkpoint").status_code == 404
            first = signer.get("/checkpoint").text
            assert Note.parse(first).is_signed(VerifierKey.parse(vkey), verify)
            assert relay.get("/checkpoint").text == first
            assert relay.get("/vkey").text.strip() == vkey
            size = Checkpoint.of(Note.parse(first)).size

            ended(importing(SEED, data=tmp_path))
            head = int(asked(relay)["stamp"]["position"])
            assert head > size
            # The signer has promised no more than before: neither does this host.
            checkpoint = answered(relay, "{ checkpoint { note verifierKey } }")["data"]["checkpoint"]
            assert checkpoint == {"note": first, "verifierKey": vkey}
            proof = answered(relay, PROOF, at=size)["data"]["inclusionProof"]["tlogProof"]
            assert check_proof(proof, VerifierKey.parse(vkey))["checkpoint"] == size
            error = answered(relay, PROOF, at=head)["errors"][0]
            assert f"covers {size} events, not yet position {head}" in error["message"]

            later = signer.get("/checkpoint").text
            assert server.stop() == 0
            assert relay.get("/checkpoint").text == later != first
            proof = answered(relay, PROOF, at=head)["data"]["inclusionProof"]["tlogProof"]
            assert check_proof(proof, VerifierKey.parse(vkey))["checkpoint"] == head
