"""What templates can use: the filters, tests and words that every page shares."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from domain.identity import hex_of, is_digest
from service.pages import wording
from service.pages.asking import text_of
from service.pages.rendering import (
    PATHS,
    anchor,
    at,
    breakable,
    day,
    grouped,
    json_block,
    minute,
    shortened,
    web_address,
    words,
)
from service.pages.static import url_of

FOLDER: Final = Path(__file__).parent / "templates"

NAVIGATION: Final = (
    ("/", "Runs"),
    ("/operations", "Operations"),
    ("/search", "Search"),
    ("/compare", "Compare"),
    ("/cited", "Check a citation"),
    ("/audit", "Log"),
    ("/graphql", "API"),
)
"""Where each page leads, and what it is called. Another entry is another line."""


@cache
def environment() -> Environment:
    """The templates of the pages. They are loaded when they are first asked for."""
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"asset": url_of, "document": text_of, "navigation": NAVIGATION, "wording": wording}
    made.tests["digest"] = is_digest
    made.filters |= {
        "day": day,
        "minute": minute,
        "words": words,
        "hex": hex_of,
        "short": shortened,
        "at": at,
        "kept": kept,
        **{path_of.__name__: _keeping(path_of) for path_of in PATHS},
        "grouped": grouped,
        "web_address": web_address,
        "anchor": anchor,
        "breakable": breakable,
        "json_block": json_block,
    }
    return made


@pass_context
def kept(context: Context, address: str) -> str:
    """The address as of the moment that the page shows, where that is not the present."""
    pinned = context.get("pinned")
    return at(address, pinned["position"]) if pinned else address


def _keeping(path_of: Callable[[Any], str]) -> Callable[[Context, Any], str]:
    @pass_context
    def path(context: Context, given: Any) -> str:
        return kept(context, path_of(given))

    return path
