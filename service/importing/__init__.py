"""Importing files into the log: catalog exports, bundles and manifests."""
