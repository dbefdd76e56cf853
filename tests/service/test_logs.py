"""The logs of a server: machine-readable, and without what must not be in them."""

import json
import subprocess
import sys

PROGRAM = """
import structlog
from service.logs import configure_logs
configure_logs()
log = structlog.get_logger()
def fail(key):
    raise ValueError("broken")
with structlog.contextvars.bound_contextvars(request_id="r-1"):
    try:
        fail("ki_secret")
    except ValueError as error:
        log.error("unexpected error", exc_info=error)
"""


def test_a_failure_is_one_line_of_json_without_the_values_of_variables() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    [line] = ran.stderr.splitlines()
    logged = json.loads(line)
    assert (logged["level"], logged["event"], logged["request_id"]) == ("error", "unexpected error", "r-1")
    assert logged["exception"][0]["exc_value"] == "broken"
    assert "ki_secret" not in line
