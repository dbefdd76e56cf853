"""JSON-LD in the terms of schema.org, which search engines read."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from service.citations import text
from service.citations.cited import INDEX_NAME, Cited, Name, Result, evidence, one_line
from service.citations.formats import Entry, Format

CONTEXT: Final = "https://schema.org"


def write(cited: Cited) -> Entry:
    """One ``Dataset``. schema.org has no access date: it is in ``creditText``, our own sentence."""
    return Entry(_text({"@context": CONTEXT} | _dataset(cited)))


def _dataset(cited: Cited) -> dict[str, Any]:
    dataset = {
        "@type": "Dataset",
        "@id": cited.permalink,
        "url": cited.permalink,
        "name": one_line(cited.title),
        "creator": [_agent(name) for name in cited.authors],
        "provider": {"@type": "Organization", "name": one_line(cited.source)},
        "publisher": {"@type": "Organization", "name": INDEX_NAME},
        "datePublished": cited.issued_on,
        "dateModified": cited.changed_on,
        "version": str(cited.position),
        "identifier": [
            {"@type": "PropertyValue", "propertyID": "SHA-256", "value": cited.digest},
            cited.key,
        ],
        "creativeWorkStatus": evidence(cited),
        "creditText": text.write(cited).content.strip(),
        "license": cited.licence,
        "variableMeasured": _variable(cited.result) if cited.result else None,
    }
    return {name: value for name, value in dataset.items() if value is not None}


def _agent(name: Name) -> dict[str, str]:
    if name.literal:
        return {"@type": "Organization", "name": one_line(name.literal)}
    return {
        "@type": "Person",
        "name": text.full_name(name),
        "familyName": one_line(name.family),
        "givenName": one_line(name.given),
    }


def _variable(result: Result) -> dict[str, str]:
    return {
        "@type": "PropertyValue",
        "name": f"{result.metric}, {result.statistic}",
        "value": result.value,
        "unitText": result.unit,
    }


def join(contents: Sequence[str]) -> str:
    """One graph of all of them."""
    graph = [msgspec.json.decode(content) for content in contents]
    for dataset in graph:
        del dataset["@context"]
    return _text({"@context": CONTEXT, "@graph": graph})


def _text(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


FORMAT: Final = Format("application/ld+json", ".jsonld", write, join)
