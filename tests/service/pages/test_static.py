"""The files that pages load: what is served, in which form, and for how long it may be kept."""

import gzip
import re
from hashlib import sha256

import httpx
import pytest
from starlette.datastructures import Headers

from service.pages.static import FOLDER, Asset, assets, takes_gzip, url_of

TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
VENDORED = re.compile(r"^\| `([^`]+)` \|.*\| `([0-9a-f]{64})` \|$", re.MULTILINE)


@pytest.mark.parametrize("asset", assets().values(), ids=lambda asset: asset.name)
class TestEachFile:
    def test_it_is_kept_for_ever_under_the_digest_of_its_content(self, client: httpx.Client, asset: Asset) -> None:
        response = client.get(asset.url, headers={"accept-encoding": "identity"})

        assert response.status_code == 200
        assert response.content == (FOLDER / asset.name).read_bytes()
        assert asset.url == f"/assets/{sha256(response.content).hexdigest()[:16]}/{asset.name}"
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"

    def test_a_browser_can_take_it_for_nothing_else(self, client: httpx.Client, asset: Asset) -> None:
        headers = client.head(asset.url).headers

        assert headers["content-type"] == TYPES.get((FOLDER / asset.name).suffix, "text/plain; charset=utf-8")
        assert headers["x-content-type-options"] == "nosniff"

    def test_it_comes_compressed_to_who_takes_that(self, client: httpx.Client, asset: Asset) -> None:
        with client.stream("GET", asset.url, headers={"accept-encoding": "br, gzip"}) as response:
            sent = b"".join(response.iter_raw())

        assert response.headers["content-encoding"] == "gzip"
        assert response.headers["content-length"] == str(len(sent))
        assert "accept-encoding" in response.headers["vary"].lower()
        assert gzip.decompress(sent) == (FOLDER / asset.name).read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "/assets/0000000000000000/graphiql.min.js",
        url_of("graphiql.min.js").replace("graphiql.min.js", "graphiql.min.css"),
        "/assets/0000000000000000/nothing.js",
        f"/assets/{sha256((FOLDER / 'README.md').read_bytes()).hexdigest()[:16]}/README.md",
        "/assets/0000000000000000/..%2fgraphiql.py",
    ],
)
def test_another_digest_or_name_is_not_found(client: httpx.Client, path: str) -> None:
    """Under a digest there is that content or none, so that no cache ever holds another."""
    response = client.get(path)

    assert response.status_code == 404
    assert "immutable" not in response.headers.get("cache-control", "")


def test_a_file_of_another_release_is_refused_with_a_code_and_what_to_do(client: httpx.Client) -> None:
    (error,) = client.get("/assets/0000000000000000/graphiql.min.js").json()["errors"]

    assert error["extensions"]["code"] == "NOT_FOUND"
    assert "load the page again" in error["extensions"]["remedy"]


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("gzip, deflate, br, zstd", True),
        ("GZIP", True),
        ("deflate, gzip;q=0.5", True),
        ("deflate, gzip ; q=0.001", True),
        ("*", True),
        ("", False),
        ("identity", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
    ],
)
def test_gzip_is_sent_only_to_who_takes_it(header: str, taken: bool) -> None:
    assert takes_gzip(Headers({"accept-encoding": header})) is taken


def test_no_header_is_no_wish_for_gzip() -> None:
    assert takes_gzip(Headers({})) is False


def test_third_party_builds_are_those_that_the_readme_names() -> None:
    """A build that was changed, or added without a word on its origin, is found here."""
    named = dict(VENDORED.findall((FOLDER / "README.md").read_text(encoding="utf-8")))

    assert named == {path.name: sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.min.*")}


def test_the_licences_name_every_package_that_the_readme_names() -> None:
    licences = (FOLDER / "third-party-licences.txt").read_text(encoding="utf-8")
    packages = set(re.findall(r"\| ([a-z-]+) \d+\.\d+\.\d+ \(", (FOLDER / "README.md").read_text(encoding="utf-8")))

    assert packages == {"graphiql", "react", "react-dom", "uplot"}
    assert packages <= set(licences.splitlines())


def test_what_is_shipped_stays_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 3_000_000
