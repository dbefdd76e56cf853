"""``kernelindex manifest validate`` and ``kernelindex manifest digest``."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from domain.bundles import read_bundle
from domain.commands.ingest import mismatched_digests
from domain.errors import InvalidInput, raise_if_any
from domain.manifests import Manifest
from service.cli.output import print_json
from service.documents import read_document


def validate(file: Path, /, *files: Path, json: bool = False) -> int:
    """Say of each manifest or bundle whether it is accepted, else everything that is wrong with it.

    Parameters
    ----------
    file
        A document in JSON or YAML.
    files
        More of them.
    json
        Print the results as JSON.
    """
    results = [_checked(one) for one in (file, *files)]
    if json:
        print_json(results)
    else:
        print(*(line for result in results for line in _lines(result)), sep="\n")  # noqa: T201
    return 1 if any(result["problems"] for result in results) else 0


def digest(file: Path, /, *, json: bool = False) -> int:
    """Print the digest of a manifest, or of each manifest in a bundle.

    Parameters
    ----------
    file
        A document in JSON or YAML.
    json
        Print kinds and digests as JSON.
    """
    result = _checked(file)
    if json:
        print_json(result)
    elif result["problems"]:
        print(*_lines(result), sep="\n", file=sys.stderr)  # noqa: T201
    elif len(result["manifests"]) == 1:
        print(result["manifests"][0]["digest"])  # noqa: T201
    else:
        print(*(f"{one['digest']}  {one['kind']}" for one in result["manifests"]), sep="\n")  # noqa: T201
    return 1 if result["problems"] else 0


def _checked(path: Path) -> dict[str, Any]:
    result: dict[str, Any] = {"file": str(path), "manifests": [], "problems": []}
    try:
        bundle = read_bundle(read_document(path.read_bytes(), str(path)), str(path))
        raise_if_any(mismatched_digests(bundle, str(path)))
    except InvalidInput as error:
        return result | {"problems": [msgspec.to_builtins(one) for one in error.within(str(path)).problems]}
    manifests = [*bundle.manifests, *([bundle.run] if bundle.run else [])]
    return result | {"manifests": [_named(one) for one in manifests]}


def _named(manifest: Manifest) -> dict[str, str]:
    return {"kind": manifest.kind.value, "digest": manifest.digest}


def _lines(result: dict[str, Any]) -> Iterator[str]:
    for problem in result["problems"]:
        where = ": ".join(part for part in (problem.get("document"), problem.get("path")) if part)
        remedy = f" ({problem['remedy']})" if problem.get("remedy") else ""
        yield f"{where}: {problem['message']}{remedy}"
    for manifest in result["manifests"]:
        yield f"{result['file']}: {manifest['kind']} {manifest['digest']} is valid"
