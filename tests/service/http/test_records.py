"""A run over HTTP: forms by ``Accept`` and by suffix, signposts, entity tags, and how it stood at a time."""

import hashlib
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest

from domain.bundles import bundle_of
from domain.commands import Command, EraseEvent, Ingest, RegisterSource
from domain.identity import hex_of
from domain.principals import LOCAL
from service.citations import CitationFormat
from service.http.representations import REPRESENTATIONS, split_suffix
from tests.examples import bundle
from tests.service.api.asking import run_of
from tests.service.citations.cited_examples import csl_item, tex_fields
from tests.service.site import Site, asked, error, site

SCHEMA = json.loads((Path(__file__).parents[2] / "fixtures" / "citation" / "csl-data.schema.json").read_text("utf-8"))
BASE = "https://kernels.example"
DIGEST = run_of().digest
HEX = hex_of(DIGEST)
PATH = f"/runs/{HEX}"
TWINS = (1_014_479, 1_091_760)
"""Latencies with which the digests of the example begin alike, found by trying."""

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Site, httpx.AsyncClient]]:
    """An index that others can reach, with one run in it."""
    async with site(tmp_path, base_url=BASE) as (one, client):
        await record(one, Ingest(bundle=bundle()))
        yield one, client


@pytest.fixture
def client(served: tuple[Site, httpx.AsyncClient]) -> httpx.AsyncClient:
    return served[1]


@pytest.fixture
def here(served: tuple[Site, httpx.AsyncClient]) -> Site:
    return served[0]


async def record(one: Site, command: Command) -> int:
    """Write to the index that is served; answers the position."""
    answer = await one.app.state.web._index.ledger.handle([command], LOCAL)
    return int(answer.position)


async def head(client: httpx.AsyncClient) -> int:
    return int((await asked(client, "{ stamp { position } }")).json()["data"]["stamp"]["position"])


def links(response: httpx.Response) -> dict[str, list[tuple[str, str]]]:
    """Targets and media types by relation."""
    found: dict[str, list[tuple[str, str]]] = {}
    for target, relations, kind in re.findall(
        r'<([^>]*)>; rel="([^"]*)"(?:; type="([^"]*)")?', response.headers["link"]
    ):
        for relation in relations.split():
            found.setdefault(relation, []).append((target, kind))
    return found


class TestForms:
    @pytest.mark.parametrize(
        ("accept", "media_type"),
        [
            ("", "application/json"),
            ("*/*", "application/json"),
            (BROWSER, "text/html; charset=utf-8"),
            ("text/html", "text/html; charset=utf-8"),
            ("application/json", "application/json"),
            ("application/x-bibtex", "application/x-bibtex; charset=utf-8"),
            ("application/x-biblatex", "application/x-biblatex; charset=utf-8"),
            ("application/vnd.citationstyles.csl+json", "application/vnd.citationstyles.csl+json"),
            ("application/x-research-info-systems", "application/x-research-info-systems; charset=utf-8"),
            ("application/ld+json", "application/ld+json"),
            ("text/plain", "text/plain; charset=utf-8"),
            ("application/x-bibtex;q=0.5, application/ld+json", "application/ld+json"),
            ("application/pdf, application/x-bibtex;q=0.1", "application/x-bibtex; charset=utf-8"),
        ],
    )
    async def test_accept_chooses(self, client: httpx.AsyncClient, accept: str, media_type: str) -> None:
        response = await client.get(PATH, headers={"Accept": accept})

        assert (response.status_code, response.headers["content-type"]) == (200, media_type)
        assert response.headers["vary"] == "Accept, Accept-Datetime"

    async def test_what_nobody_can_give_is_406_with_what_there_is(self, client: httpx.AsyncClient) -> None:
        response = await client.get(PATH, headers={"Accept": "application/pdf"})

        assert response.status_code == 406
        assert "application/x-bibtex" in error(response)["remedy"]

    @pytest.mark.parametrize("form", REPRESENTATIONS, ids=lambda form: form.suffix)
    async def test_a_suffix_chooses_whatever_is_accepted(self, client: httpx.AsyncClient, form: Any) -> None:
        position = await head(client)
        for id_ in (HEX, HEX[:8], DIGEST):
            for path in (f"/runs/{id_}{form.suffix}", f"/runs/{id_}/at/{position}{form.suffix}"):
                response = await client.get(path, headers={"Accept": "application/pdf"})

                assert (response.status_code, response.headers["content-type"]) == (200, form.content_type)
                accepted = await client.get(path.removesuffix(form.suffix), headers={"Accept": form.media_type})
                assert response.content == accepted.content

    async def test_every_format_of_citations_has_a_form_and_no_two_clash(self) -> None:
        assert {one.value.media_type for one in CitationFormat} <= {one.media_type for one in REPRESENTATIONS}
        assert len({one.media_type for one in REPRESENTATIONS}) == len(REPRESENTATIONS)
        assert len({one.suffix for one in REPRESENTATIONS}) == len(REPRESENTATIONS)

    def test_the_longest_suffix_counts(self) -> None:
        assert split_suffix("x.csl.json")[0] == "x"
        assert split_suffix("x.json")[0] == "x"
        assert split_suffix("x.pdf") == ("x.pdf", None)

    async def test_an_alias_that_ends_like_a_suffix_is_matched_whole(
        self, here: Site, client: httpx.AsyncClient
    ) -> None:
        named = bundle(9000, by="tern")
        assert named.run
        await record(here, Ingest(bundle=bundle_of(*named.manifests, named.run, record={"aliases": ["odd.bib"]})))

        assert (await client.get("/runs/odd.bib")).json()["kind"] == "BenchmarkRun"
        assert (await client.get("/runs/odd.bib.bib")).text.startswith("@misc{")

    async def test_citations_say_what_graphql_says(self, client: httpx.AsyncClient) -> None:
        query = "query($id: ID!, $f: CitationFormat!) { run(id: $id) { citation(format: $f) { content } } }"
        for one in CitationFormat:
            answer = (await asked(client, query, id=DIGEST, f=one.name)).json()["data"]["run"]["citation"]

            assert (await client.get(f"{PATH}{one.value.suffix}")).text == answer["content"]

    async def test_csl_is_valid_and_bibtex_has_its_fields(self, client: httpx.AsyncClient) -> None:
        jsonschema.validate([csl_item((await client.get(f"{PATH}.csl.json")).text)], SCHEMA)
        fields = tex_fields((await client.get(f"{PATH}.bib")).text)
        assert fields["url"] == f"{BASE}{PATH}/at/{await head(client)}"

    async def test_head_is_get_without_the_bytes(self, client: httpx.AsyncClient) -> None:
        got, headed = await client.get(f"{PATH}.ris"), await client.head(f"{PATH}.ris")

        assert (headed.status_code, headed.content) == (200, b"")
        for name in ("etag", "link", "content-type", "content-length", "cache-control"):
            assert headed.headers[name] == got.headers[name]


class TestNotThere:
    @pytest.mark.parametrize(
        "path", ["/runs/nothing.bib", f"/runs/{'0' * 64}.json", f"{PATH}.pdf", f"{PATH}.BIB", "/runs/.bib"]
    )
    async def test_no_such_run(self, client: httpx.AsyncClient, path: str) -> None:
        response = await client.get(path)

        assert (response.status_code, error(response)["code"]) == (404, "NOT_FOUND")
        assert response.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize("position", ["0.bib", "x.bib", ".bib", "1.pdf", "999999.bib", "1.5.json"])
    async def test_no_such_position(self, client: httpx.AsyncClient, position: str) -> None:
        assert (await client.get(f"{PATH}/at/{position}")).status_code == 404

    async def test_an_ambiguous_prefix_lists_its_candidates(self, here: Site, client: httpx.AsyncClient) -> None:
        first, second = (run_of(median_ns).digest for median_ns in TWINS)
        for median_ns in TWINS:
            await record(here, Ingest(bundle=bundle(median_ns)))

        for path in (f"/runs/{first[7:15]}", f"/runs/{first[7:15]}.bib"):
            response = await client.get(path)

            assert (response.status_code, error(response)["code"]) == (400, "AMBIGUOUS_ID")
            message = response.json()["errors"][0]["message"]
            assert first in message
            assert second in message
        assert (await client.get(f"/runs/{first[7:]}")).status_code == 200

    async def test_what_was_erased_is_gone_in_every_form(self, here: Site, client: httpx.AsyncClient) -> None:
        position = (await asked(client, "{ runs { nodes { position } } }")).json()["data"]["runs"]["nodes"][0][
            "position"
        ]
        shown = await head(client)
        await record(here, EraseEvent(position=position, stream=f"run/{DIGEST}", legal_basis="GDPR Art. 17"))

        for path in (PATH, f"{PATH}.bib", f"{PATH}.json", f"{PATH}/at/{shown}", f"{PATH}/at/{shown}.csl.json"):
            response = await client.get(path)
            assert (response.status_code, error(response)["code"]) == (410, "GONE")
        query = """query($p: URL!, $ids: [ID!]!) { citedRecord(permalink: $p) { position }
          citations(ids: $ids, format: RIS) { content problems { code } } }"""
        answer = (await asked(client, query, p=f"{BASE}{PATH}/at/{shown}", ids=[DIGEST])).json()
        assert [one["extensions"]["code"] for one in answer["errors"]] == ["GONE"]
        assert answer["data"]["citations"] == {"content": "", "problems": [{"code": "GONE"}]}


class TestTags:
    async def test_the_tag_of_the_record_is_its_digest(self, client: httpx.AsyncClient) -> None:
        response = await client.get(PATH)

        assert response.headers["etag"] == f'"{DIGEST}"' == f'"sha256:{hashlib.sha256(response.content).hexdigest()}"'

    @pytest.mark.parametrize("form", REPRESENTATIONS, ids=lambda form: form.suffix)
    async def test_what_the_client_has_is_not_sent_again(
        self, here: Site, client: httpx.AsyncClient, form: Any
    ) -> None:
        path = f"{PATH}{form.suffix}"
        first = await client.get(path)

        again = await client.get(path, headers={"If-None-Match": f'"x", {first.headers["etag"]}'})

        assert (again.status_code, again.content) == (304, b"")
        for name in ("etag", "cache-control", "vary", "link"):
            assert again.headers.get(name) == first.headers.get(name)

    async def test_a_citation_has_another_tag_on_another_day(self, here: Site, client: httpx.AsyncClient) -> None:
        pinned = f"{PATH}/at/{await head(client)}.bib"
        etag = (await client.get(pinned)).headers["etag"]
        here.clock.forward(days=1)

        response = await client.get(pinned, headers={"If-None-Match": etag})

        assert response.status_code == 200
        assert tex_fields(response.text)["urldate"] == "2026-09-02"

    async def test_only_the_pinned_record_is_immutable(self, client: httpx.AsyncClient) -> None:
        position = await head(client)
        immutable = {
            path
            for form in REPRESENTATIONS
            for path in (f"{PATH}{form.suffix}", f"{PATH}/at/{position}{form.suffix}")
            if "immutable" in (await client.get(path)).headers["cache-control"]
        }

        assert immutable == {f"{PATH}/at/{position}.json"}


class TestSignposts:
    async def test_the_record_points_to_all_that_there_is_of_it(self, client: httpx.AsyncClient) -> None:
        position = await head(client)
        found = links(await client.get(PATH))

        assert found["cite-as"] == [(f"{BASE}{PATH}/at/{position}", "")]
        assert found["item"] == [(f"{BASE}{PATH}.json", "application/json")]
        assert found["describedby"] == [
            *((f"{BASE}{PATH}{one.value.suffix}", one.value.media_type) for one in CitationFormat),
            (f"{BASE}{PATH}.html", "text/html"),
        ]
        assert ("https://schema.org/Dataset", "") in found["type"]
        assert found["original"] == found["timegate"] == [(f"{BASE}{PATH}", "")]

    async def test_pinned_it_points_to_what_is_pinned(self, client: httpx.AsyncClient) -> None:
        pinned = f"{PATH}/at/{await head(client)}"
        found = links(await client.get(pinned))

        assert found["cite-as"] == [(f"{BASE}{pinned}", "")]
        assert found["item"] == [(f"{BASE}{pinned}.json", "application/json")]
        assert found["original"] == found["latest-version"] == [(f"{BASE}{PATH}", "")]

    async def test_every_signpost_leads_somewhere_and_back(self, client: httpx.AsyncClient) -> None:
        found = links(await client.get(PATH))
        for target, kind in (*found["item"], *found["describedby"]):
            response = await client.get(target.removeprefix(BASE))

            assert response.headers["content-type"].split(";")[0] == kind
            back = links(response)
            assert [(f"{BASE}{PATH}", "")] in (back.get("describes"), back.get("collection"))

    async def test_the_licence_is_where_the_source_says(self, here: Site, client: httpx.AsyncClient) -> None:
        assert "license" not in links(await client.get(PATH))
        url = 'https://tern.example/terms?a=1>; rel="cite-as"\r\nX: ü'
        await record(
            here, RegisterSource(slug="local", name="Local", kind="person", policy=json.dumps({"url": url}).encode())
        )

        response = await client.get(PATH)

        (licence,) = links(response)["license"]
        assert licence[0] == "https://tern.example/terms?a=1%3E;%20rel=%22cite-as%22%0D%0AX:%20%C3%BC"
        assert "x" not in response.headers


class TestTime:
    async def test_a_pinned_record_says_of_when_it_is(self, client: httpx.AsyncClient) -> None:
        response = await client.get(f"{PATH}/at/{await head(client)}")

        assert response.headers["memento-datetime"] == "Tue, 01 Sep 2026 12:00:00 GMT"
        assert response.headers["vary"] == "Accept"
        assert "memento-datetime" not in (await client.get(PATH)).headers

    async def test_a_time_leads_to_the_record_as_it_stood_then(self, here: Site, client: httpx.AsyncClient) -> None:
        first = await head(client)
        here.clock.forward(days=1, seconds=0.5)
        second = await record(here, Ingest(bundle=bundle(9000, by="tern")))

        for when, position in [
            ("Tue, 01 Sep 2026 12:00:00 GMT", first),
            ("Wed, 02 Sep 2026 11:59:59 GMT", first),
            ("Wed, 02 Sep 2026 12:00:00 GMT", second),
            ("Fri, 31 Dec 2100 00:00:00 GMT", second),
            ("Mon, 01 Jan 2001 00:00:00 GMT", first),
        ]:
            for suffix in ("", ".bib"):
                response = await client.get(f"{PATH}{suffix}", headers={"Accept-Datetime": when})

                assert response.status_code == 302
                assert response.headers["location"] == f"{BASE}{PATH}/at/{position}{suffix}"
                assert "Accept-Datetime" in response.headers["vary"]
                assert links(response)["original"] == [(f"{BASE}{PATH}", "")]
                memento = await client.get(response.headers["location"].removeprefix(BASE))
                assert memento.status_code == 200
                # Asked for its own time, it leads to itself.
                again = {"Accept-Datetime": memento.headers["memento-datetime"]}
                assert (await client.get(f"{PATH}{suffix}", headers=again)).headers["location"] == response.headers[
                    "location"
                ]

    @pytest.mark.parametrize("wrong", ["yesterday", "2026-09-01T12:00:00Z", "Tue, 99 Sep 2026 12:00:00 GMT", "x" * 500])
    async def test_what_is_no_http_date_is_refused(self, client: httpx.AsyncClient, wrong: str) -> None:
        response = await client.get(PATH, headers={"Accept-Datetime": wrong})

        assert (response.status_code, error(response)["code"]) == (400, "BAD_REQUEST")

    async def test_a_pinned_record_stays_where_it_is(self, client: httpx.AsyncClient) -> None:
        response = await client.get(
            f"{PATH}/at/{await head(client)}", headers={"Accept-Datetime": "Mon, 01 Jan 2001 00:00:00 GMT"}
        )

        assert response.status_code == 200
