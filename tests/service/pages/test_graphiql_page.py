"""GraphiQL's page: who gets it, what it loads, and what its policy allows."""

import json
import re
from html.parser import HTMLParser

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.pages.graphiql import in_script
from service.queries import examples

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


class Elements(HTMLParser):
    """Every element with its attributes, and the text that scripts hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] == "script" and data.strip():
            self.texts.append(data)

    def loaded(self) -> list[str]:
        urls = (attributes.get("src") or attributes.get("href") for _, attributes in self.found)
        return [url for url in urls if url]


@pytest.fixture
def page(client: httpx.Client) -> httpx.Response:
    return client.get("/graphql", headers={"accept": BROWSER})


def policy_of(page: httpx.Response) -> dict[str, list[str]]:
    directives = (part.split() for part in page.headers["content-security-policy"].split(";"))
    return {name: values for name, *values in directives}


class TestWhoGetsIt:
    def test_a_browser_does(self, page: httpx.Response) -> None:
        assert page.status_code == 200
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert "<title>GraphiQL · KernelIndex</title>" in page.text

    @pytest.mark.parametrize(
        "accept", ["*/*", "application/json", "application/graphql-response+json, text/html;q=0.5"]
    )
    def test_a_client_that_prefers_json_does_not(self, client: httpx.Client, accept: str) -> None:
        response = client.get("/graphql", headers={"accept": accept})

        assert "json" in response.headers["content-type"]

    def test_a_link_with_a_query_is_answered_with_its_data(self, client: httpx.Client) -> None:
        response = client.get("/graphql", params={"query": "{stamp{position}}"}, headers={"accept": BROWSER})

        assert response.json()["data"]["stamp"]["position"] > 0

    def test_the_home_page_leads_to_it(self, client: httpx.Client) -> None:
        response = client.get("/", headers={"accept": BROWSER})

        assert '<a href="/graphql">API</a>' in response.text


class TestPolicy:
    def test_only_files_of_our_own_run(self, page: httpx.Response) -> None:
        policy = policy_of(page)

        assert policy["default-src"] == ["'none'"]
        assert policy["script-src"] == ["'self'"]
        assert policy["connect-src"] == ["'self'"]
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == ["'none'"]

    def test_nothing_in_it_is_unsafe_or_names_another_host(self, page: httpx.Response) -> None:
        allowed = {value for values in policy_of(page).values() for value in values}

        assert {re.sub(r"^'nonce-.*", "nonce", value) for value in allowed} == {"'none'", "'self'", "data:", "nonce"}

    def test_each_page_has_a_nonce_of_its_own_for_styles_alone(self, client: httpx.Client) -> None:
        nonces = set()
        for _ in range(3):
            page = client.get("/graphql", headers={"accept": BROWSER})
            (nonce,) = re.findall(r'nonce="([^"]+)"', page.text)
            assert policy_of(page)["style-src"] == ["'self'", f"'nonce-{nonce}'"]
            assert page.headers["cache-control"] == "private, no-cache"
            nonces.add(nonce)

        assert len(nonces) == 3

    def test_the_page_has_no_script_or_style_in_its_text(self, page: httpx.Response) -> None:
        elements = Elements(page.text)

        scripts = [attributes for tag, attributes in elements.found if tag == "script"]
        assert [one for one in scripts if "src" not in one and one.get("type") != "application/json"] == []
        assert [tag for tag, _ in elements.found if tag == "style"] == []
        names = {name for _, attributes in elements.found for name in attributes}
        assert [name for name in names if name == "style" or name.startswith("on")] == []


class TestContent:
    def test_all_that_it_loads_is_served_here(self, client: httpx.Client, page: httpx.Response) -> None:
        urls = Elements(page.text).loaded()

        assert len(urls) == 8
        assert [url for url in urls if not re.match(r"/assets/[0-9a-f]{16}/[a-z.-]+\Z", url)] == []
        assert {client.head(url).status_code for url in urls} == {200}

    def test_it_carries_the_examples(self, page: httpx.Response) -> None:
        (block,) = Elements(page.text).texts

        shown = [(one["query"], one["variables"]) for one in json.loads(block)]

        assert shown == [(one.query, one.variables) for one in examples()]

    @given(
        st.recursive(
            st.text() | st.sampled_from(["</script>", "<!--", "]]>"]),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def test_json_in_a_script_element_is_the_same_value_and_never_ends_it(self, value: object) -> None:
        text = in_script(value)

        assert json.loads(text) == value
        assert "<" not in text
