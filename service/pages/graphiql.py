"""GraphiQL, from files of our own: what a browser gets that opens the GraphQL endpoint."""

import json
import secrets
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

import msgspec
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from service.pages.static import url_of
from service.queries import examples

TEMPLATE: Final = Path(__file__).parent / "templates" / "graphiql.html"
STYLES: Final = ("graphiql.min.css", "graphiql-page.css")
SCRIPTS: Final = ("react.production.min.js", "react-dom.production.min.js", "graphiql.min.js", "graphiql-page.js")
# GraphiQL's style sheet holds its fonts and a few icons as data. Its dialogs and menus write a <style> of their own to
# keep the page behind from scrolling: that element alone is what the nonce is for.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; font-src data:; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


async def graphiql(scope: Scope, receive: Receive, send: Send) -> None:
    """An ASGI application that answers with the page."""
    nonce = secrets.token_urlsafe(16)
    headers = {
        "Content-Security-Policy": POLICY.format(nonce=nonce),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        # A shared cache would hand one nonce to many.
        "Cache-Control": "private, no-cache",
        "Vary": "Accept",
    }
    response = HTMLResponse(_template().substitute(_parts(), nonce=nonce), headers=headers)
    await response(scope, receive, send)


@cache
def _template() -> Template:
    return Template(TEMPLATE.read_text(encoding="utf-8"))


@cache
def _parts() -> dict[str, str]:
    return {
        "icon": url_of("icon.svg"),
        "licences": url_of("third-party-licences.txt"),
        "styles": "\n".join(f'<link rel="stylesheet" href="{url_of(name)}">' for name in STYLES),
        "scripts": "\n".join(f'<script defer src="{url_of(name)}"></script>' for name in SCRIPTS),
        "examples": in_script(msgspec.to_builtins(examples())),
    }


def in_script(value: object) -> str:
    """JSON text that can stand in a ``<script>`` element: nothing in it ends the element or opens a comment."""
    return json.dumps(value).replace("<", "\\u003c")
