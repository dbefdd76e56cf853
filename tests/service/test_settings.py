"""Settings come from the environment, and each that can't be is told by its name."""

from pathlib import Path

import pytest

from domain.errors import InvalidInput
from service.settings import Settings


def test_variables_are_read_as_what_their_fields_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELINDEX_DATA_DIR", "/var/lib/kernelindex")
    monkeypatch.setenv("KERNELINDEX_PORT", "80")
    monkeypatch.setenv("KERNELINDEX_HOST", "123")
    monkeypatch.setenv("KERNELINDEX_QUERY_TIMEOUT_S", "2.5")
    monkeypatch.setenv("KERNELINDEX_KEY_SECRET", "s" * 32)
    settings = Settings()
    assert settings.data_dir == Path("/var/lib/kernelindex")
    assert (settings.port, settings.host, settings.query_timeout_s) == (80, "123", 2.5)
    assert settings.key_secret
    assert settings.key_secret.reveal() == "s" * 32


def test_what_is_given_goes_before_the_environment_and_that_before_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KERNELINDEX_HOST", raising=False)
    monkeypatch.setenv("KERNELINDEX_PORT", "80")
    monkeypatch.setenv("KERNELINDEX_DATA_DIR", "/there")
    settings = Settings(data_dir=Path("/here"))
    assert (settings.data_dir, settings.port, settings.host) == (Path("/here"), 80, "127.0.0.1")


def test_a_misspelt_setting_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="prot"):
        Settings(prot=80)


def test_everything_that_can_not_be_is_told_at_once_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {
        "KERNELINDEX_PORT": "70000",
        "KERNELINDEX_LOG_ORIGIN": "two words",
        "KERNELINDEX_QUERY_TIMEOUT_S": "0",
        "KERNELINDEX_MAX_LAG_EVENTS": "many",
    }
    for name, value in wrong.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidInput) as refused:
        Settings()
    problems = refused.value.problems
    assert {problem.path for problem in problems} == set(wrong)
    assert [problem.message for problem in problems if problem.path == "KERNELINDEX_PORT"] == [
        "expected `int` <= 65535"
    ]
    assert all(problem.remedy.startswith("it sets: ") for problem in problems)
