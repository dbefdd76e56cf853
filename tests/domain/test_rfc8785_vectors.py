"""The published vectors of the JSON Canonicalization Scheme, and case 17."""

import json
import struct
from pathlib import Path

import pytest
import rfc8785

from domain.identity import canonical_json, digest_of
from domain.json_text import read_json

VECTORS = Path(__file__).parents[1] / "fixtures/rfc8785"
NUMBERS = json.loads((VECTORS / "numbers.json").read_bytes())["vectors"]


@pytest.mark.parametrize("name", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_a_document_has_its_published_canonical_form(name: str) -> None:
    # Not through our reader: two of them hold text that is not NFC, which a canonicaliser keeps and we refuse.
    tree = json.loads((VECTORS / f"{name}.input.json").read_bytes())
    assert canonical_json(tree) == (VECTORS / f"{name}.canonical.json").read_bytes()


@pytest.mark.parametrize("vector", NUMBERS, ids=lambda vector: vector["ieee754"])
def test_a_number_has_its_published_spelling(vector: dict[str, str | None]) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(str(vector["ieee754"])))
    if vector["json"] is None:
        with pytest.raises(rfc8785.CanonicalizationError):
            canonical_json(number)
    else:
        assert canonical_json(number) == str(vector["json"]).encode()


def test_case_17_number_spellings() -> None:
    text = (
        '{"a":1.0,"b":1e20,"c":1e21,"d":1e-7,"e":0.000001,"f":-0.0,"g":333333333.33333329,"h":4.50,"i":2e-3,'
        '"j":0.30000000000000004,"k":5e-324,"l":1.7976931348623157e308,"m":9007199254740991,"n":100e-2,"o":0.1e1}'
    )
    canonical = canonical_json(read_json(text))
    assert canonical == (
        b'{"a":1,"b":100000000000000000000,"c":1e+21,"d":1e-7,"e":0.000001,"f":0,"g":333333333.3333333,"h":4.5,'
        b'"i":0.002,"j":0.30000000000000004,"k":5e-324,"l":1.7976931348623157e+308,"m":9007199254740991,"n":1,"o":1}'
    )
    assert digest_of(canonical) == "sha256:456eb726823c903c13c2dbdf5066d7271f42597d483afd58217600edf773e91d"


def test_the_copies_are_the_published_files(shared: Path) -> None:
    for published in (shared / "data/vectors/rfc8785").iterdir():
        assert (VECTORS / published.name).read_bytes() == published.read_bytes()
