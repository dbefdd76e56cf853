"""JSON Schemas of what intake accepts, generated from its models; and what they say about one field."""

import copy
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from domain.manifests.kinds import Kind
from domain.manifests.models import model_of

SCHEMA_BASE: Final = "https://kernelindex.dev/schemas/v1alpha1/"

Schema = dict[str, Any]


def published_schema(kind: Kind) -> Schema:
    """JSON Schema (draft 2020-12) of a kind as it is accepted: a duration as an integer or as text.

    Beyond it intake refuses a duration that does not land on a whole nanosecond or is over 2^53 - 1 of them, and what
    no document may hold (:func:`domain.json_text.check_tree`).
    """
    return copy.deepcopy(_schema(kind))


def schema_url(kind: Kind) -> str:
    """The ``$id`` of a kind's schema."""
    return f"{SCHEMA_BASE}{_kebab(kind)}.schema.json"


def field_schema(kind: Kind, path: Sequence[str | int]) -> Schema:
    """What the schema says about the field at a path, without its references; ``{}`` where it says nothing."""
    whole = _schema(kind)
    node = whole
    for part in path:
        inner = node.get("items", {}) if isinstance(part, int) else _member(node, part)
        if isinstance(part, int) and part < len(node.get("prefixItems", ())):
            inner = node["prefixItems"][part]
        node = {**whole["$defs"][inner["$ref"].rpartition("/")[2]], **inner} if "$ref" in inner else inner
    return node


def _member(node: Schema, name: str) -> Schema:
    member = node.get("properties", {}).get(name, node.get("additionalProperties"))
    return member if isinstance(member, dict) else {}


@cache
def _schema(kind: Kind) -> Schema:
    generated = model_of(kind).json_schema(mode="validation", schema_generator=_Generator)
    heading = {"$schema": GenerateJsonSchema.schema_dialect, "$id": schema_url(kind), "title": kind.value}
    return {**heading, **{key: value for key, value in generated.items() if key not in heading}}


def _kebab(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class _Generator(GenerateJsonSchema):
    """Without a title for every field, and with maps that refuse unfit keys instead of leaving their values open."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the base class sets the signature
        return False

    def dict_schema(self, schema: Any) -> JsonSchemaValue:
        keys = self.generate_inner(schema["keys_schema"])
        values = self.generate_inner(schema["values_schema"])
        return {"type": "object", "propertyNames": keys, "additionalProperties": values}
