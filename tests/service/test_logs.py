"""The logs of a server: machine-readable, and without what must not be in them."""

import json
import subprocess
import sys

from service.logs import Log
from tests.service.logged import logged

PROGRAM = """
from service.logs import {configure}, Log, logged_under
{configure}()
log = Log("test")
def fail(key):
    raise ValueError("broken")
log.info("100 %s sure")
with logged_under("r-1"):
    try:
        try:
            fail("ki_secret")
        except ValueError as error:
            raise KeyError("lost") from error
    except KeyError as error:
        log.error("unexpected error", failure=error, where=("a", 1))
"""


def written(configure: str) -> str:
    """What the program leaves on standard error."""
    program = PROGRAM.format(configure=configure)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr


def test_each_event_of_a_server_is_one_line_of_json_with_its_time() -> None:
    first, second = map(json.loads, written("configure_logs").splitlines())
    assert (first["level"], first["event"], first.get("request_id")) == ("info", "100 %s sure", None)
    assert (second["level"], second["event"], second["request_id"]) == ("error", "unexpected error", "r-1")
    assert second["where"] == ["a", 1]
    assert first["timestamp"].endswith("Z")
    assert first["timestamp"] < second["timestamp"]


def test_a_failure_is_told_with_its_causes_and_without_the_values_of_variables() -> None:
    text = written("configure_logs")
    outer, inner = json.loads(text.splitlines()[1])["exception"]
    assert (outer["exc_type"], outer["exc_value"]) == ("KeyError", "'lost'")
    assert (inner["exc_type"], inner["exc_value"]) == ("ValueError", "broken")
    assert [frame["name"] for frame in inner["frames"]] == ["<module>", "fail"]
    assert "ki_secret" not in text


def test_a_command_tells_warnings_only_in_words() -> None:
    first, *rest = written("quiet_logs").splitlines()
    assert first == "error: unexpected error request_id='r-1' where=('a', 1)"
    assert rest[-1] == "KeyError: 'lost'"


def test_the_failure_at_hand_is_told_where_it_is_caught() -> None:
    with logged() as lines:
        try:
            int("broken")
        except ValueError:
            Log("test").exception("failed, will try again", position=3)
    [line] = lines
    assert isinstance(line.pop("failure"), ValueError)
    assert line == {"event": "failed, will try again", "level": "error", "position": 3}


def test_a_field_may_be_called_as_what_logging_calls_its_own() -> None:
    with logged() as lines:
        Log("test").warning("abandoned", name="a", message="b", args="c")
    assert lines == [
        {"event": "abandoned", "level": "warning", "failure": None, "name": "a", "message": "b", "args": "c"}
    ]
