"""What a command does not need is not loaded: that is what makes it start quickly."""

import subprocess
import sys

import pytest


def seen(program: str) -> str:
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "module",
    ["service.web", "strawberry", "graphql", "pydantic", "starlette", "uvicorn", "rich", "structlog.dev", "httpx"],
)
def test_the_command_line_alone_does_not_load(module: str) -> None:
    assert seen(f"import sys, service.cli; print({module!r} in sys.modules)") == "False\n"


def test_serving_builds_no_model_of_manifests_before_one_comes() -> None:
    program = "import service.cli.serving; from domain.manifests.models import model_of; print(model_of.cache_info().currsize)"
    assert seen(program) == "0\n"
