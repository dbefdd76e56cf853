"""Auditing: the log's signer, its proofs as they are served, and the offline verification of an exported log."""
