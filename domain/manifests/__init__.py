"""The eight kinds of manifest: what is accepted, how it is normalised, and what it is called for ever."""

from domain.manifests.kinds import Kind
from domain.manifests.reading import Manifest, read_manifest, stored_manifest

__all__ = ["Kind", "Manifest", "read_manifest", "stored_manifest"]
