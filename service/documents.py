"""Manifest documents as people send them: JSON or YAML, told apart by the first character."""

import re
from typing import Final

from domain.json_text import Json, read_json

_JSON_START: Final = re.compile("\ufeff?[ \t\r\n]*[{[]")
_JSON_START_BYTES: Final = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*[{[]")


def read_document(text: str | bytes, document: str = "") -> Json:
    """The tree of a document: JSON where it starts with ``{`` or ``[``, else YAML. There is no second try.

    :raises InvalidInput: as :func:`domain.json_text.read_json` and :func:`service.yaml_text.read_yaml` do.
    """
    is_json = _JSON_START.match(text) if isinstance(text, str) else _JSON_START_BYTES.match(text)
    if is_json:
        return read_json(text, document)
    from service.yaml_text import read_yaml  # noqa: PLC0415 few send YAML, and loading its parser takes long

    return read_yaml(text, document)
