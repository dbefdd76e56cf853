"""Read models: one file each, with its row, its table, what an event does to it, and the queries over it."""
