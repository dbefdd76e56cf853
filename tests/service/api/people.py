"""People and machines that write through the API, as tests need them."""

from base64 import b64encode
from hashlib import sha256
from itertools import count
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from graphql import GraphQLUnionType, get_named_type

from domain import facts
from domain.bundles import Bundle
from domain.commands import (
    AbandonRerun,
    ApproveRunner,
    AttestRun,
    CloseIssue,
    Command,
    HideAttestation,
    Ingest,
    OpenDispute,
    RecordRerun,
    ReportIssue,
    RequestRerun,
    ResolveDispute,
    ReviseMetadata,
    StartRerun,
    SupersedeRun,
)
from domain.commands.rerun_results import statement
from domain.manifests import Manifest
from domain.principals import LOCAL, Principal, Scope
from service.api.execute import execute
from service.api.schema import built_schema
from service.app import Index
from service.auth import Caller
from tests.examples import FINCH, PUBLIC_KEY, SIGNATURE, START, fits, ingest, manifest, run
from tests.service.api.asking import ask, text_of

schema = built_schema()

ADDRESS: Final = "192.0.2.1"
OWLET: Final = Principal("owlet", frozenset({Scope.INGEST}))
MARTEN: Final = Principal("marten", frozenset({Scope.ATTEST}))
SABLE: Final = Principal("sable", frozenset({Scope.ATTEST}))
MODERATOR: Final = Principal("heron-mod", frozenset({Scope.MODERATE}))
ADMIN: Final = Principal("heron-admin", frozenset({Scope.ADMIN}))

FAILURE: Final = "... on UserError { message code path remedy problems { code path } }"
NODES: Final = {
    "run": "id digest",
    "rerun": "id state",
    "runner": "id",
    "attestation": "id",
    "issue": "id state",
    "dispute": "id",
    "node": "id",
    "source": "id",
}
_keys = count(1)


async def write(
    index: Index,
    mutation: str,
    *,
    by: Principal | None = LOCAL,
    key: str | None = None,
    address: str = ADDRESS,
    **given: Any,
) -> dict[str, Any]:
    """What a mutation answers: its success with the id of its node, or the error; under a new key unless one is given."""
    field = _mutations()[mutation]
    payload = get_named_type(field.type)
    assert isinstance(payload, GraphQLUnionType)
    (success,) = (one for one in payload.types if one.name.endswith("Success"))
    shown = [f"{name} {{ {NODES[name]} }}" for name in success.fields if name in NODES]
    shown += [name for name in ("created", "position") if name in success.fields]
    query = f"""mutation ($input: {field.args["input"].type}) {{ {mutation}(input: $input) {{
      __typename ... on {success.name} {{ {" ".join(shown)} }} {FAILURE} }} }}"""
    given = {"input": {**given, "idempotencyKey": key or f"key-{next(_keys)}"}}
    response = await execute(index, query, given, caller=Caller(principal=by, address=address))
    assert "errors" not in response, response["errors"]
    answer: dict[str, Any] = response["data"][mutation]
    return answer


async def done(index: Index, mutation: str, **given: Any) -> dict[str, Any]:
    """What a mutation answers that succeeds."""
    answer = await write(index, mutation, **given)
    assert answer["__typename"].endswith("Success"), answer
    return answer


def _mutations() -> dict[str, Any]:
    mutation = schema._schema.mutation_type
    assert mutation
    return dict(mutation.fields)


async def sent_in(index: Index, one: Bundle, by: Principal = OWLET) -> Manifest:
    """The run of a bundle, once this principal has sent it in."""
    answer = await index.ledger.handle([Ingest(bundle=one)], by)
    assert one.run, answer
    return one.run


class Machine:
    """A runner: a host of an operator with an Ed25519 key of its own."""

    def __init__(self, name: str, operator: str, *, host: str | None = None, secret: str | None = None) -> None:
        self.name = name
        self.host = host or f"host-of-{name}"
        self.operator = Principal(operator, frozenset({Scope.RERUN}))
        self.key = Ed25519PrivateKey.from_private_bytes(sha256((secret or name).encode()).digest())

    async def approved(self, index: Index) -> "Machine":
        """The same machine, once an administrator has approved it."""
        public = b64encode(self.key.public_key().public_bytes_raw()).decode()
        given = {"operator": self.operator.id, "host": self.host, "hardware": "NVIDIA B200", "publicKey": public}
        await done(index, "approveRunner", by=ADMIN, runner=self.name, **given)
        return self

    async def start(self, index: Index, rerun: str, **given: Any) -> dict[str, Any]:
        return await write(index, "startRerun", by=self.operator, rerun=rerun, runner=self.name, **given)

    async def result(self, index: Index, rerun: str, measured: Manifest, *, of: Manifest) -> dict[str, Any]:
        """The input of ``recordRerun`` for what was measured of a claim."""
        log_id = (await ask(index, "{ stamp { logId } }"))["stamp"]["logId"]
        name = rerun.removeprefix("rerun/")
        message = statement(log_id=log_id, rerun=name, run=of.digest, manifest_digest=measured.digest)
        signature = b64encode(self.key.sign(message)).decode()
        return {"rerun": rerun, "runner": self.name, "manifest": text_of(measured), "signature": signature}

    async def rerun(self, index: Index, claim: Manifest, measured: Manifest) -> dict[str, Any]:
        """What the recording of a whole rerun answers, from the request on."""
        asked = await done(index, "requestRerun", by=MARTEN, run=claim.digest)
        rerun = asked["rerun"]["id"]
        assert (await self.start(index, rerun))["__typename"] == "StartRerunSuccess"
        given = await self.result(index, rerun, measured, of=claim)
        return await write(index, "recordRerun", by=self.operator, **given)


_D = {"run": run().digest}
SAID: Final[tuple[Command, ...]] = (
    ingest(),
    ingest(8200),
    ApproveRunner(
        runner="finch-b200", operator="finch", host="finch-01", hardware="NVIDIA B200", public_key=PUBLIC_KEY
    ),
    RequestRerun(rerun="rerun-7", note="for the camera-ready version", **_D),
    StartRerun(rerun="rerun-7", runner="finch-b200", now=START, lease_s=60),
    AbandonRerun(rerun="rerun-7", runner="finch-b200", reason="the machine is needed"),
    StartRerun(rerun="rerun-7", runner="finch-b200", now=START, lease_s=60),
    RecordRerun(rerun="rerun-7", runner="finch-b200", manifest=run(9900), signature=SIGNATURE, verify=fits),
    AttestRun(
        attestation="attestation-7",
        type=facts.AttestationType.REPRODUCED,
        note="Same here.",
        salt="s",
        evidence_url="https://marten.example/log.txt",
        observed_value="8200",
        observed_unit="ns",
        environment="one B200",
        **_D,
    ),
    AttestRun(attestation="attestation-8", type=facts.AttestationType.ENVIRONMENT_NOTE, note="x", salt="s", **_D),
    HideAttestation(attestation="attestation-8", reason="an advertisement"),
    ReportIssue(issue="issue-7", category=facts.IssueCategory.OTHER, text="No title.", salt="s", **_D),
    OpenDispute(dispute="d-1", blocking=True, reason="too good to be true", issue="issue-7", **_D),
    CloseIssue(issue="issue-7", outcome=facts.IssueOutcome.DISPUTED, note="It is looked into."),
    ResolveDispute(run=run().digest, dispute="rerun-7", outcome=facts.DisputeOutcome.DISMISSED, reason="throttled"),
    ReviseMetadata(manifest=manifest("BenchmarkRun", run().spec, name="renamed"), reason="a typo", salt="s"),
    SupersedeRun(successor=run(8200).digest, reason="measured again", **_D),
)
"""All that can be said of a run, once each, by somebody who may say all of it."""


async def say_everything(index: Index) -> None:
    """Let all of :data:`SAID` happen, each as a save of its own."""
    for command in SAID:
        (result,) = (await index.ledger.handle([command], FINCH)).results
        assert not hasattr(result, "problems"), result
