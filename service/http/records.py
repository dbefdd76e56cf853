"""A run over HTTP: its canonical record and its citations, by ``Accept`` or by suffix, now and as it stood."""

import re
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from domain.errors import ErrorCode
from domain.identity import digest_of
from domain.manifests import Kind
from service.api.context import Context
from service.api.resolving import document_of
from service.api.snapshot import Snapshot
from service.errors_out import refused
from service.http.links import link_header
from service.http.memento import http_date, position_for
from service.http.negotiation import is_known, negotiate
from service.http.representations import REPRESENTATIONS, Record, Representation, split_suffix

_POSITION: Final = re.compile(r"[1-9][0-9]{0,15}\Z")
_FORMS: Final = {form.media_type: form for form in REPRESENTATIONS}


async def show_run(request: Request, context: Context) -> Response:
    """The run in the form that the request asks for, as it is known now or was at the position in the path."""
    record, asked_for = await _find(request, context)
    headers = {"Link": await link_header(record, asked_for), **_vary(record, asked_for)}
    if record.snapshot.pinned:
        headers["Memento-Datetime"] = http_date(record.snapshot.known_at)
    elif when := request.headers.get("accept-datetime"):
        suffix = asked_for.suffix if asked_for else ""
        address = f"{record.permalink}/at/{await position_for(record, when)}{suffix}"
        return RedirectResponse(address, HTTPStatus.FOUND, {**headers, "Cache-Control": "no-store"})
    form = asked_for or _acceptable(request)
    content = await form.write(record)
    headers |= form.headers
    headers["ETag"] = f'"{digest_of(content)}"'
    headers["Cache-Control"] = form.keep_pinned if record.snapshot.pinned else form.keep
    if is_known(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(content, headers={**headers, "Content-Type": form.content_type})


async def _find(request: Request, context: Context) -> tuple[Record, Representation | None]:
    """The run that the path names, and the form that its suffix asks for."""
    id_, position = request.path_params["id"], request.path_params.get("position")
    if position is not None:
        number, form = split_suffix(position)
        run = await document_of(_snapshot(context, number), id_, (Kind.BENCHMARK_RUN,))
    else:
        # An alias is matched whole, even one that ends like a suffix.
        run, form = await document_of(context.snapshot, id_, (Kind.BENCHMARK_RUN,)), None
        if run is None:
            stem, form = split_suffix(id_)
            run = await document_of(context.snapshot, stem, (Kind.BENCHMARK_RUN,)) if form else None
    if run is None:
        raise refused(ErrorCode.NOT_FOUND, "no run has this id", remedy="check the digits, or search for it")
    return Record(run, context, request.query_params), form


def _snapshot(context: Context, asked: str) -> Snapshot:
    if not _POSITION.match(asked):
        raise refused(
            ErrorCode.NOT_FOUND,
            f"the log has no position {asked[:20]}",
            remedy=f"the first position is 1, the present one is {context.snapshot.position}",
        )
    return context.pinned_at(int(asked), "position")


def _acceptable(request: Request) -> Representation:
    chosen = negotiate(",".join(request.headers.getlist("accept")), tuple(_FORMS))
    if chosen is None:
        raise refused(
            ErrorCode.UNSUPPORTED_MEDIA_TYPE,
            "None of the media types in Accept can be had",
            remedy=f"accept one of {', '.join(_FORMS)}, or add a suffix such as .bib to the path",
            status=HTTPStatus.NOT_ACCEPTABLE,
        )
    return _FORMS[chosen]


def _vary(record: Record, asked_for: Representation | None) -> dict[str, str]:
    """What of the request the answer depends on."""
    names = ("" if asked_for else "Accept", "" if record.snapshot.pinned else "Accept-Datetime")
    return {"Vary": ", ".join(filter(None, names))} if any(names) else {}
