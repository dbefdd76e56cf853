"""Templates and the words and signs that they share: how instants, digests and numbers look on every page."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from domain.identity import hex_of, is_digest
from service.pages import wording
from service.pages.asking import text_of
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


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """The page, in UTF-8. A name that the template uses and nobody gave is an error."""
    return _environment().get_template(template).render(values).encode()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {"asset": url_of, "document": text_of, "navigation": NAVIGATION, "wording": wording}
    environment.tests["digest"] = is_digest
    environment.filters |= {
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
    return environment


def day(instant: str) -> str:
    """The UTC day of an instant."""
    return instant[: len("2026-08-01")]


def minute(instant: str) -> str:
    """The UTC minute of an instant, for people."""
    return f"{day(instant)} {instant[len('2026-08-01T') :][:5]} UTC"


def words(code: str) -> str:
    """A code in words: ``INCORRECT_SHAPE`` is ``incorrect shape``."""
    return code.replace("_", " ").lower()


def shortened(digest: str) -> str:
    """The first digits of a digest, for the eye; whoever shows it so gives the whole of it beside."""
    return f"{digest[: len('sha256:') + 16]}…"


def run_path(digest: str) -> str:
    """Where the page of a run is."""
    return f"/runs/{hex_of(digest)}"


def ranking_path(comparison_key: str) -> str:
    """Where the page of a group is."""
    return f"/rankings/{hex_of(comparison_key)}"


def operation_path(slug: str) -> str:
    """Where the page of an operation is."""
    return f"/operations/{quote(slug, safe='')}"


def project_path(digest: str) -> str:
    """Where the page of a project is."""
    return f"/projects/{hex_of(digest)}"


def workload_path(digest: str) -> str:
    """Where the page of a workload is."""
    return f"/workloads/{hex_of(digest)}"


def implementation_path(digest: str) -> str:
    """Where the page of an implementation is."""
    return f"/implementations/{hex_of(digest)}"


def compare_path(digests: Sequence[str]) -> str:
    """Where runs are compared: each of them once, in this order."""
    return f"/compare?{urlencode([('id', hex_of(digest)) for digest in digests])}"


PATHS: Final[Sequence[Callable[[Any], str]]] = (
    run_path,
    ranking_path,
    operation_path,
    project_path,
    workload_path,
    implementation_path,
    compare_path,
)
"""Filters: in a template each leads to the moment that the page shows."""


def at(address: str, position: int) -> str:
    """The address of a page as of a position."""
    if address.startswith("/runs/"):
        return f"{address}/at/{position}"
    return f"{address}{'&' if '?' in address else '?'}at={position}"


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


def grouped(number: int) -> str:
    """A whole number with its digits in groups of three, by narrow spaces that no line breaks at."""
    return f"{number:,}".replace(",", "\u202f")


def web_address(text: str | None) -> str:
    """The text where a link may lead there, else nothing: a ``javascript:`` address is only ever shown."""
    address = text or ""
    try:
        leads = address.lower().startswith(("http://", "https://")) and urlsplit(address).netloc
    except ValueError:
        return ""
    return quote(address, safe="/:?#[]@!$&'()*+,;=%~-._") if leads else ""


def anchor(id_: str) -> str:
    """The name under which a page can be opened at an object: ids hold a slash."""
    return id_.replace("/", "-")


def breakable(name: str) -> Markup:
    """A name such as ``comparabilityFamily``, which a narrow column may break between its words."""
    return Markup("<wbr>").join(re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", name))


def json_block(text: str) -> Markup:
    """JSON that can stand in a ``<script>`` element: nothing in it ends the element or opens a comment."""
    return Markup(text.strip().replace("<", "\\u003c"))  # noqa: S704 - inside of a string, that is the same character
