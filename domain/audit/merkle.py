"""The Merkle tree of RFC 6962 over SHA-256: how it grows, what it proves, and how proofs are checked (RFC 9162).

A hash is 32 bytes. A tree of ``size`` leaves is described by its *peaks*: the roots of the complete subtrees that its
leaves fall into, largest first, one for each 1 in the binary form of ``size``.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from hashlib import sha256
from typing import Final

HASH_SIZE: Final = 32
TILE_HEIGHT: Final = 8
TILE_WIDTH: Final = 1 << TILE_HEIGHT
EMPTY_ROOT: Final = sha256().digest()

Range = tuple[int, int]
"""The leaves from the first index up to, not with, the second."""

Hashes = Callable[[int, int, int], Sequence[bytes]]
"""``hashes(level, first, count)``: consecutive hashes of a tile level. Those of level L are the roots of the complete
subtrees of 256**L leaves; level 0 holds the leaves."""


def leaf_hash(entry: bytes) -> bytes:
    """The hash of a leaf that holds ``entry``."""
    return sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node."""
    return sha256(b"\1" + left + right).digest()


class Tree:
    """A growing tree: its size, its peaks, and the nodes that became complete since it was made.

    ``completed`` lists ``(level, number, hash)`` of tile levels above 0: what a proof can't do without.
    """

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        self.size = size
        self.peaks = list(peaks)
        self.completed: list[tuple[int, int, bytes]] = []
        if len(self.peaks) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} peaks, not {len(self.peaks)}")

    def append(self, leaf: bytes) -> None:
        """Add the hash of a leaf. The work is one hash on average."""
        peaks, rest, height = self.peaks, self.size, 0
        while rest & 1:
            leaf = node_hash(peaks.pop(), leaf)
            rest >>= 1
            height += 1
            if height % TILE_HEIGHT == 0:
                self.completed.append((height // TILE_HEIGHT, rest, leaf))
        peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root hash, in O(log size)."""
        return reduce(lambda right, left: node_hash(left, right), reversed(self.peaks)) if self.peaks else EMPTY_ROOT


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root over hashes of leaves."""
    tree = Tree()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()


def inclusion_path(index: int, size: int) -> list[Range]:
    """The subtrees whose roots prove that the leaf ``index`` is in the tree of ``size`` leaves, lowest first."""
    first, end, path = 0, size, list[Range]()
    while end - first > 1:
        middle = first + _split(end - first)
        if index < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((first, middle))
            first = middle
    return path[::-1]


def consistency_path(size1: int, size2: int) -> list[Range]:
    """The subtrees whose roots prove that the tree of ``size1`` (at least 1) is the beginning of that of ``size2``."""
    first, end, path = 0, size2, list[Range]()
    while end != size1:
        middle = first + _split(end - first)
        if size1 <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((first, middle))
            first = middle
    # The old tree's own root is known to who asks, unless it is only a part of it that stands here.
    return [*([(first, end)] if first else []), *path[::-1]]


def subtree_hash(leaves: Range, hashes: Hashes) -> bytes:
    """The root over a range that a path names, from the hashes of tiles: at most 255 of each level."""
    first, end = leaves
    size = end - first
    level, unit = 0, 1
    while size % (unit * TILE_WIDTH) == 0:
        level, unit = level + 1, unit * TILE_WIDTH
    if size // unit <= TILE_WIDTH:
        return root_of(hashes(level, first // unit, size // unit))
    middle = first + _split(size)
    return node_hash(subtree_hash((first, middle), hashes), subtree_hash((middle, end), hashes))


def verify_inclusion(leaf: bytes, index: int, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the proof shows that ``leaf`` is at ``index`` (from 0) in the tree of this size and root."""
    if not 0 <= index < size or not _are_hashes(leaf, root, *proof):
        return False
    place, last, found = index, size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            found = node_hash(other, found)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            found = node_hash(found, other)
        place, last = place >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(size1: int, root1: bytes, size2: int, root2: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the proof shows that the tree of ``size1`` is the beginning of that of ``size2``.

    About an empty tree nothing can be shown, so ``size1`` of 0 is always refused.
    """
    if not 0 < size1 <= size2:
        return False
    if size1 == size2:
        return not proof and bool(root1) and root1 == root2
    if not _are_hashes(root1, root2, *proof):
        return False
    path = [root1, *proof] if size1 & (size1 - 1) == 0 else list(proof)
    if not path:
        return False
    place, last = size1 - 1, size2 - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, other)
        place, last = place >> 1, last >> 1
    return last == 0 and old == root1 and new == root2


def _split(size: int) -> int:
    """The largest power of two below ``size``."""
    return 1 << ((size - 1).bit_length() - 1)


def _are_hashes(*values: bytes) -> bool:
    return all(len(value) == HASH_SIZE for value in values)
