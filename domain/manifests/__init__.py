"""The eight kinds of manifest: what is accepted, how it is normalised, and what it is called for ever."""

from domain.manifests.kinds import Kind
from domain.manifests.reading import Manifest, read_manifest, stored_manifest
from domain.manifests.schemas import published_schema, schema_url

__all__ = ["Kind", "Manifest", "published_schema", "read_manifest", "schema_url", "stored_manifest"]
