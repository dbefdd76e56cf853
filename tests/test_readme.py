"""The README is true: every command, target, setting, path and name in it exists."""

import re
from pathlib import Path

import pytest

from domain.commands import COMMANDS
from domain.facts import EVENTS
from service.api.schema import built_schema
from service.settings import Settings

schema = built_schema()

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def test_every_make_target_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z]+)\b", README))
    assert named
    assert named <= set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))


def test_every_setting_exists_and_every_one_is_listed() -> None:
    named = set(re.findall(r"`(KERNELINDEX_[A-Z_]+)`", README))
    assert named == {f"KERNELINDEX_{name.upper()}" for name in Settings.__dataclass_fields__}


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:domain|projections|service|tests|benchmarks|docs)/[^`]*)`", README)))
)
def test_every_path_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_camel_case_name_is_one_of_ours() -> None:
    """Facts, commands, types and fields that it names in code."""
    fields = re.findall(r"^  ([a-z][A-Za-z]+)[(:]", schema.as_str(), re.MULTILINE)
    types = re.findall(r"^(?:type|interface|enum|scalar|input|union) (\w+)", schema.as_str(), re.MULTILINE)
    ours = {*EVENTS, *(command.__name__ for command in COMMANDS), *fields, *types}
    manifests = {"apiVersion", "sourceNative"}
    in_code = {
        name for code in re.findall(r"`([A-Za-z]+)`", README) for name in [code] if re.search(r"[a-z][A-Z]", name)
    }
    assert in_code <= ours | manifests
