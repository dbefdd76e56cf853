"""Importing files into the log: catalog exports, bundles and manifests."""

from service.importing.report import Report
from service.importing.run import Importer

__all__ = ["Importer", "Report"]
