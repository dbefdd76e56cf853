"""Settings come from the environment, and each that can't be is told by its name."""

from pathlib import Path

import pytest

from domain.errors import InvalidInput
from service.settings import Settings


def test_what_is_not_set_has_its_default() -> None:
    settings = Settings.from_environment({})
    assert (settings.data_dir, settings.port, settings.key_secret) == (Path("kernelindex-data"), 8000, None)


def test_variables_are_read_as_what_their_fields_are() -> None:
    settings = Settings.from_environment(
        {
            "KERNELINDEX_DATA_DIR": "/var/lib/kernelindex",
            "KERNELINDEX_PORT": "80",
            "KERNELINDEX_HOST": "123",
            "KERNELINDEX_QUERY_TIMEOUT_S": "2.5",
            "KERNELINDEX_KEY": "is no setting of a server",
            "PORT": "81",
        }
    )
    assert settings.data_dir == Path("/var/lib/kernelindex")
    assert (settings.port, settings.host, settings.query_timeout_s) == (80, "123", 2.5)


def test_everything_that_can_not_be_is_told_at_once_with_its_reason() -> None:
    wrong = {
        "KERNELINDEX_PORT": "70000",
        "KERNELINDEX_LOG_ORIGIN": "two words",
        "KERNELINDEX_QUERY_TIMEOUT_S": "0",
        "KERNELINDEX_MAX_LAG_EVENTS": "many",
    }
    with pytest.raises(InvalidInput) as refused:
        Settings.from_environment(wrong)
    problems = refused.value.problems
    assert {problem.path for problem in problems} == set(wrong)
    assert [problem.message for problem in problems if problem.path == "KERNELINDEX_PORT"] == [
        "expected `int` <= 65535"
    ]
    assert all(problem.remedy.startswith("it sets: ") for problem in problems)
