"""What a command does not need is not loaded: that is what makes it start quickly."""

import subprocess
import sys

import pytest


def seen(program: str) -> str:
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "module",
    ["service.web", "strawberry", "graphql", "pydantic", "starlette", "uvicorn", "rich", "httpx", "importlib.metadata"],
)
def test_the_command_line_alone_does_not_load(module: str) -> None:
    assert seen(f"import sys, service.cli; print({module!r} in sys.modules)") == "False\n"


@pytest.mark.parametrize(
    "module",
    [
        pytest.param("pydantic", id="models of manifests: pydantic"),
        pytest.param("jinja2", id="pages: jinja2"),
        pytest.param("yaml", id="manifests in YAML: yaml"),
        pytest.param("rich", id="tables on a terminal: rich"),
        pytest.param("cryptography.hazmat.primitives.serialization", id="files of keys: serialization"),
    ],
)
def test_serving_does_not_load_what_queries_never_need(module: str) -> None:
    assert seen(f"import sys, service.cli.serving; print({module!r} in sys.modules)") == "False\n"


def test_the_schema_is_built_with_the_application_and_not_before() -> None:
    program = (
        "import service.cli.serving; from service.api.schema import built_schema as built; print(built.cache_info())"
    )
    assert "currsize=0" in seen(program)


def test_no_garbage_is_searched_for_while_a_command_is_loaded_and_then_it_is() -> None:
    program = """
import gc, sys
from service.cli import main
from service.memory import search_garbage_less
sys.argv[1:] = ["--version"]
try:
    main()
except SystemExit:
    print(gc.get_threshold()[0])
search_garbage_less()
print(gc.get_threshold()[0])
"""
    _, loading, loaded = seen(program).split()
    assert int(loading) > 10 * int(loaded)


def test_serving_builds_no_model_of_manifests_before_one_comes() -> None:
    program = "import service.cli.serving; from domain.manifests.models import model_of; print(model_of.cache_info().currsize)"
    assert seen(program) == "0\n"
