"""The whole real catalog: every manifest is read, and every digest is the published one."""

import json
from collections import Counter
from pathlib import Path

import zstandard

from domain.json_text import read_json
from domain.manifests import Manifest, read_manifest, stored_manifest

DIGESTS = {"operations": "semanticDigest", "workloads": "workloadDigest", "implementations": "implementationDigest"}
RUN_PARTS = {"run": "runDigest", "protocol": "protocolKey", "environment": "environmentKey"}


def test_every_manifest_of_the_catalog_has_its_published_digest(shared: Path) -> None:
    with (shared / "data/catalog/catalog-2026-08-16.jsonl.zst").open("rb") as packed:
        lines = zstandard.ZstdDecompressor().stream_reader(packed).read().splitlines()
    checked: Counter[str] = Counter()
    for line in lines:
        tree = read_json(line)
        assert isinstance(tree, dict)
        table, row = str(tree["table"]), tree["row"]
        assert isinstance(row, dict)
        manifest = row.get("manifest")
        if table == "benchmark_runs":
            assert isinstance(manifest, dict)
            for part, digest in RUN_PARTS.items():
                check(read_manifest(manifest[part]), row[digest])
        elif manifest is not None:
            check(read_manifest(manifest), row.get(DIGESTS.get(table, "")))
        checked[table] += manifest is not None
    expected = json.loads((shared / "data/expected/expected-counts.json").read_bytes())
    assert expected
    assert checked["benchmark_runs"] == 7857
    assert checked["workloads"] == 5627
    assert checked["implementations"] == 4250
    assert checked["operations"] == 449
    assert checked["projects"] == 588


def check(manifest: Manifest, digest: object) -> None:
    assert digest in (None, manifest.digest)
    assert stored_manifest(manifest.canonical).digest == manifest.digest
