"""Sources of records: the ones that are known by name."""
