"""The tree against the published vectors, and the laws that hold for trees of any size."""

import json
from base64 import b64decode
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.audit.merkle import (
    EMPTY_ROOT,
    TILE_WIDTH,
    Hashes,
    Tree,
    consistency_path,
    inclusion_path,
    leaf_hash,
    node_hash,
    root_of,
    subtree_hash,
    verify_consistency,
    verify_inclusion,
)

VECTORS = Path(__file__).parents[2] / "fixtures/vectors/merkle"
REFERENCE = json.loads((VECTORS / "rfc6962-reference-tree.json").read_bytes())
PROBES = json.loads((VECTORS / "transparency-dev-merkle-proofs.json").read_bytes())
LEAVES = [leaf_hash(bytes.fromhex(one)) for one in REFERENCE["leaves_hex"]]


def hashes_of(leaves: Sequence[bytes]) -> Hashes:
    """Every hash of every tile level, computed from the leaves each time: what a store of tiles must answer."""

    def hashes(level: int, first: int, count: int) -> list[bytes]:
        unit = TILE_WIDTH**level
        return [root_of(leaves[n * unit : (n + 1) * unit]) for n in range(first, first + count)]

    return hashes


def inclusion(leaves: Sequence[bytes], index: int) -> list[bytes]:
    return [subtree_hash(part, hashes_of(leaves)) for part in inclusion_path(index, len(leaves))]


def consistency(leaves: Sequence[bytes], size: int) -> list[bytes]:
    return [subtree_hash(part, hashes_of(leaves)) for part in consistency_path(size, len(leaves))]


def test_hashes_are_those_of_rfc_6962() -> None:
    expected = REFERENCE["hasher_vectors"]
    assert EMPTY_ROOT.hex() == expected["empty_root"]
    assert leaf_hash(b"").hex() == expected["leaf_of_empty"]
    assert leaf_hash(b"L123456").hex() == expected["leaf_of_ascii_L123456"]
    assert node_hash(b"N123", b"N456").hex() == expected["node_of_ascii_N123_N456"]


def test_the_reference_tree_has_its_published_roots() -> None:
    assert [root_of(LEAVES[:size]).hex() for size in range(9)] == REFERENCE["roots_by_size"]


@pytest.mark.parametrize("vector", REFERENCE["inclusion"], ids=lambda one: f"{one['index']}-of-{one['size']}")
def test_the_reference_tree_has_its_inclusion_proofs(vector: dict[str, Any]) -> None:
    index, size = vector["index"], vector["size"]
    proof = [bytes.fromhex(one) for one in vector["proof"]]
    assert inclusion(LEAVES[:size], index) == proof
    assert verify_inclusion(LEAVES[index], index, size, root_of(LEAVES[:size]), proof)


@pytest.mark.parametrize("vector", REFERENCE["consistency"], ids=lambda one: f"{one['size1']}-to-{one['size2']}")
def test_the_reference_tree_has_its_consistency_proofs(vector: dict[str, Any]) -> None:
    size1, size2 = vector["size1"], vector["size2"]
    proof = [bytes.fromhex(one) for one in vector["proof"]]
    assert consistency(LEAVES[:size2], size1) == proof
    assert verify_consistency(size1, root_of(LEAVES[:size1]), size2, root_of(LEAVES[:size2]), proof)


def decoded(texts: list[str] | None) -> list[bytes]:
    return [b64decode(text) for text in texts or ()]


@pytest.mark.parametrize("probe", PROBES["inclusion"], ids=lambda one: one["id"])
def test_an_inclusion_probe_is_taken_or_refused_as_published(probe: dict[str, Any]) -> None:
    leaf, root = b64decode(probe["leafHash"] or ""), b64decode(probe["root"] or "")
    taken = verify_inclusion(leaf, probe["leafIdx"], probe["treeSize"], root, decoded(probe["proof"]))
    assert taken is not probe["wantErr"]


@pytest.mark.parametrize("probe", PROBES["consistency"], ids=lambda one: one["id"])
def test_a_consistency_probe_is_taken_or_refused_as_published(probe: dict[str, Any]) -> None:
    root1, root2 = b64decode(probe["root1"] or ""), b64decode(probe["root2"] or "")
    taken = verify_consistency(probe["size1"], root1, probe["size2"], root2, decoded(probe["proof"]))
    assert taken is not probe["wantErr"]


def many(size: int) -> list[bytes]:
    return [leaf_hash(number.to_bytes(4, "big")) for number in range(size)]


@given(st.integers(1, 1200), st.data())
def test_every_leaf_of_any_tree_is_shown_at_its_index_alone(size: int, data: st.DataObject) -> None:
    leaves, index = many(size), data.draw(st.integers(0, size - 1))
    proof, root = inclusion(leaves, index), root_of(leaves)
    other = data.draw(st.integers(0, size - 1).filter(lambda one: one != index)) if size > 1 else size

    assert verify_inclusion(leaves[index], index, size, root, proof)
    assert not verify_inclusion(leaves[index], other, size, root, proof)


@given(st.integers(1, 1200), st.data())
def test_any_earlier_tree_is_shown_to_be_the_beginning_of_a_later_one(size: int, data: st.DataObject) -> None:
    leaves, earlier = many(size), data.draw(st.integers(1, size))
    proof = consistency(leaves, earlier)
    forged = root_of([leaf_hash(b"forged"), *leaves[1:earlier]])

    assert verify_consistency(earlier, root_of(leaves[:earlier]), size, root_of(leaves), proof)
    assert not verify_consistency(earlier, forged, size, root_of(leaves), proof)


@pytest.mark.parametrize("size", [70_000, 65_536, 66_304])
def test_a_tree_that_goes_on_from_its_peaks_completes_the_nodes_of_its_tiles(size: int) -> None:
    leaves = many(size)
    whole = Tree()
    for leaf in leaves:
        whole.append(leaf)
    resumed, completed = Tree(), list[tuple[int, int, bytes]]()
    for first, end in pairwise([0, 1, 255, 256, 4000, 65_535, size]):
        resumed = Tree(resumed.size, resumed.peaks)
        for leaf in leaves[first:end]:
            resumed.append(leaf)
        completed += resumed.completed

    assert resumed.root() == whole.root()
    assert completed == whole.completed
    assert [one for one in completed if one[0] == 1] == [
        (1, n, root_of(leaves[n * 256 : (n + 1) * 256])) for n in range(size // 256)
    ]
    assert [number for level, number, _ in completed if level == 2] == [0]


def test_peaks_that_do_not_fit_the_size_are_refused() -> None:
    with pytest.raises(ValueError, match="2 peaks, not 1"):
        Tree(3, [leaf_hash(b"")])
