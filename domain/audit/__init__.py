"""The log as a Merkle tree: hashes, proofs, checkpoints, and the texts in which they travel. Keys are elsewhere."""
