"""Templates and the words and signs that they share: how instants, digests and numbers look on every page."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from markupsafe import Markup

from domain.identity import hex_of


def render(template: str, values: Mapping[str, Any]) -> bytes:
    """The page, in UTF-8. A name that the template uses and nobody gave is an error."""
    from service.pages.environment import environment  # noqa: PLC0415 no query needs templates, which take long to load

    return environment().get_template(template).render(values).encode()


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
