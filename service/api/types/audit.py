"""What the log promises and proves. All hashes are base64, as checkpoints write them."""

from base64 import b64encode

import strawberry

from domain.audit import notes
from domain.audit.leaves import leaf_of
from domain.errors import ErrorCode, InvalidInput
from projections import tree
from projections.model import Doc
from service.api.context import Context
from service.api.scalars import Position
from service.api.snapshot import Snapshot
from service.api.types.base import Root, loaded, picked
from service.api.types.described import object_type
from service.audit.proving import Proving, require_position


@object_type("A promise, signed: the first events of the log are those under this root, for ever.")
class Checkpoint:
    origin: str = picked("The name of the log, and of the key that signed.")
    tree_size: Position = picked("How many events it covers.")
    root_hash: str = picked("The root of the Merkle tree over them (RFC 6962), in base64.")
    note: str = picked("The whole checkpoint, a C2SP signed note: keep it, elsewhere.")
    verifier_key: str = picked("The key that the signature is checked with. Take it from somebody else if you can.")


@object_type("Shows that an event is in the log (RFC 6962): hashes from the leaf's neighbour up.")
class InclusionProof:
    position: Position = picked("The event's position; the index of its leaf is one less.")
    leaf_hash: str = picked("The hash of its leaf, in base64.")
    tree_size: Position = picked("The size of the tree that it is shown to be in: the position of the stamp.")
    root_hash: str = picked("The root of that tree, in base64.")
    hashes: list[str] = picked("The proof, in base64.")

    @loaded(str, "A C2SP `.tlog-proof`: event, proof and newest checkpoint in one text, to be checked offline.")
    async def tlog_proof(self, root: Root) -> str:
        proving: Proving = root["@proving"]
        return str(await proving.tlog_proof(root["position"]))


@object_type("Shows that nothing of an earlier log was changed in a later one (RFC 6962).")
class ConsistencyProof:
    from_: Position = strawberry.field(name="from", description="The size of the earlier log.")
    to: Position = picked("The size of the later log.")
    from_root_hash: str = picked("The root of the earlier one, in base64.")
    to_root_hash: str = picked("The root of the later one, in base64.")
    hashes: list[str] = picked("The proof, in base64.")


async def checkpoint_document(context: Context) -> Doc:
    """The document of the newest checkpoint."""
    proving = context.index.proving
    note = await proving.checkpoint()
    checkpoint = notes.Checkpoint.of(note)
    return {
        "origin": checkpoint.origin,
        "treeSize": checkpoint.size,
        "rootHash": _text(checkpoint.root),
        "note": str(note),
        "verifierKey": str(proving.verifier),
    }


async def inclusion_document(context: Context, snapshot: Snapshot, position: int) -> Doc:
    """The proof that an event is in the tree of the snapshot."""
    require_position(position, snapshot.position)
    size = snapshot.position
    (digest,) = await snapshot.read(lambda db: tree.digests(db, position - 1, 1))
    (hashes,) = await snapshot.read(lambda db: tree.inclusions(db, [position], size))
    return {
        "position": position,
        "leafHash": _text(leaf_of(digest)),
        "treeSize": size,
        "rootHash": _text(snapshot.root_hash()),
        "hashes": list(map(_text, hashes)),
        "@proving": context.index.proving,
    }


async def consistency_document(snapshot: Snapshot, earlier: int, later: int) -> Doc:
    """The proof that the log up to one position begins as it does up to another."""
    for path, position in (("from", earlier), ("to", later)):
        require_position(position, snapshot.position, path)
    if earlier > later:
        raise InvalidInput.because(
            f"from, {earlier}, is later than to, {later}",
            code=ErrorCode.INVALID_ARGUMENT,
            path="from",
            remedy="give the earlier position as from, the later one as to",
        )
    roots = await snapshot.read(lambda db: [tree.root(db, size) for size in (earlier, later)])
    hashes = await snapshot.read(lambda db: tree.consistency(db, earlier, later))
    return {
        "from_": earlier,
        "to": later,
        "fromRootHash": _text(roots[0]),
        "toRootHash": _text(roots[1]),
        "hashes": list(map(_text, hashes)),
    }


def _text(hashed: bytes) -> str:
    return b64encode(hashed).decode()
