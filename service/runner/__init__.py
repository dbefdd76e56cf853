"""A runner: takes rerun requests from an index, has a harness measure them, signs and records what came out."""
