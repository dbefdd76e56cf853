"""What sources published under their own ids: queries over the runs, for comparing them with what a source has now."""

import sqlite3

from projections.model import AS_OF, json_list


def newest_observations(db: sqlite3.Connection, sources: list[str], position: int) -> dict[str, str]:
    """When the newest run of each source was measured."""
    query = f"""SELECT source.value, (
        SELECT json_extract(doc, '$.observedAt') FROM runs WHERE runs.source = source.value AND {AS_OF}
        ORDER BY observed_key DESC LIMIT 1)
      FROM json_each(:sources) AS source"""  # noqa: S608 text is ours
    rows = db.execute(query, {"sources": json_list(sources), "position": position})
    return {slug: observed_at for slug, observed_at in rows if observed_at}


def changed_since(
    db: sqlite3.Connection, sources: list[str], position: int, most: int
) -> tuple[int, list[tuple[str, str, str, str]]]:
    """Runs recorded after the position that a source published before under the same external id in the same group.

    How many there are, and the first of them: source, external id, the run, and the last one before it.
    """
    query = """
      SELECT one.source, one.external_id, one.digest, (
        SELECT other.digest FROM runs AS other
        WHERE other.source = one.source AND other.external_id = one.external_id AND other.to_position IS NULL
          AND other.comparison_key = one.comparison_key AND other.recorded_position < one.recorded_position
        ORDER BY other.recorded_position DESC LIMIT 1
      ) AS before FROM runs AS one
      WHERE one.recorded_position > :position AND one.to_position IS NULL AND before IS NOT NULL
        AND one.source IN (SELECT value FROM json_each(:sources)) ORDER BY one.recorded_position"""
    rows = db.execute(query, {"position": position, "sources": json_list(sources)}).fetchall()
    return len(rows), rows[:most]


def standing_under(db: sqlite3.Connection, source: str, external_ids: list[str]) -> list[tuple[str, str]]:
    """The runs that a source published under these ids: digest and external id."""
    query = """SELECT digest, external_id FROM runs WHERE source = :source AND to_position IS NULL
      AND external_id IN (SELECT value FROM json_each(:ids)) ORDER BY digest"""
    return db.execute(query, {"source": source, "ids": json_list(external_ids)}).fetchall()


def standing_runs(db: sqlite3.Connection, source: str, operation: str) -> list[tuple[str, str]]:
    """The runs of a source for an operation that have an external id: digest and external id."""
    query = """SELECT digest, external_id FROM runs WHERE operation = :operation AND source = :source
      AND to_position IS NULL AND external_id IS NOT NULL ORDER BY digest"""
    return db.execute(query, {"operation": operation, "source": source}).fetchall()
