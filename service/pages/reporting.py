"""The form that reports an issue without a key and without scripts: it runs the mutation that anybody may send."""

from http import HTTPStatus
from typing import Final
from unicodedata import normalize
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from domain.errors import ErrorCode, Problem
from domain.facts import IssueCategory
from domain.identity import canonical_json, digest_of
from projections.model import Doc
from service.api.context import Context
from service.errors_out import Refused, refused
from service.http.body import read_body
from service.http.parameters import expect_plain
from service.pages.asking import ask
from service.pages.rendering import anchor, run_path

FORM: Final = "application/x-www-form-urlencoded"
MAX_BODY: Final = 32 * 1024  # 2,000 characters of four bytes, each byte written as three
FIELDS: Final = frozenset({"category", "text"})


async def report_issue(request: Request, context: Context) -> Response:
    """``POST /runs/<id>/issues``: leads to the issue on the page of the run."""
    require_same_origin(request)
    expect_plain(request.headers, (FORM,), "send it from the form of a run's page, or reportIssue to /graphql")
    given = {"run": request.path_params["id"], **_fields(await read_body(request, MAX_BODY))}
    # Sent twice, by a double click or by going back, the same words are one report.
    key = digest_of(canonical_json({**given, "day": context.accessed_at.date().isoformat()}))
    answer = (await ask(context, "report-issue", "ReportIssue", input={**given, "idempotencyKey": key}))["reportIssue"]
    if answer["__typename"] != "ReportIssueSuccess":
        raise Refused(*map(_problem, answer["problems"]))
    issue = answer["issue"]
    return RedirectResponse(f"{run_path(issue['run']['digest'])}#{anchor(issue['id'])}", HTTPStatus.SEE_OTHER)


def require_same_origin(request: Request) -> None:
    """Refuse what another site's page sends: whoever looks at that would report from their own address."""
    site, host = request.headers.get("sec-fetch-site"), request.headers.get("host")
    ours = (f"http://{host}", f"https://{host}") if host else ()
    if site != "same-origin" if site else request.headers.get("origin") not in ours:
        raise refused(
            ErrorCode.FORBIDDEN,
            "This form is taken only from a page of this index",
            remedy="open the page of the run and send it from there, or send reportIssue to /graphql",
        )


def _fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=10)
    except ValueError:
        raise refused(ErrorCode.BAD_REQUEST, "The form is not UTF-8, or has too many fields") from None
    # Browsers send lines with CRLF, and whatever composition was typed; the log takes neither.
    fields = {name: normalize("NFC", value.replace("\r\n", "\n")).strip() for name, value in pairs if name in FIELDS}
    if fields.keys() != FIELDS:
        raise refused(ErrorCode.BAD_REQUEST, "The form has no category or no text", remedy="fill in both")
    if fields["category"] not in tuple(IssueCategory):
        raise refused(ErrorCode.BAD_REQUEST, "The form's category is none of ours", remedy="choose one of the list")
    return fields


def _problem(problem: Doc) -> Problem:
    code = ErrorCode(problem["code"])
    return Problem(code=code, message=problem["message"], path=problem["path"] or "", remedy=problem["remedy"] or "")
