"""How soon a command is there: the CPU time of importing what it needs, beside that of Python alone.

Our modules are compiled first, as installing the package or ``make setup`` does. With a data folder as argument, also
how soon ``kernelindex serve`` answers over what it holds.
"""

import compileall
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import httpx
from rows import Row, tell

ROUNDS = 5
HELP = "from service.cli import main; import sys; sys.argv[1:] = ['--help']; main()"
# As the command does it: it searches for no garbage until it is loaded.
LOAD = "from service.memory import search_no_garbage_yet as load; load(); import service.cli.serving"
# A server's start is over once that is loaded; taking everything apart again, as Python does at its end, is none of it.
SERVE = f"{LOAD}; import os; os._exit(0)"
ROOT = Path(__file__).parent.parent
PACKAGES = ("domain", "projections", "service")
WAIT_S = 60


def cpu_s(program: str) -> float:
    """The CPU time of a Python process that runs this."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=False, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def first_answer_s(folder: str) -> float:
    """From the start of the process to its first answer to a query."""
    command = [sys.executable, "-c", "from service.cli import main; main()", "serve", "--port", "0"]
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=os.environ | {"KERNELINDEX_DATA_DIR": folder}, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            greeting = process.stdout.readline() if process.stdout else ""
            (url,) = (word for word in greeting.split() if word.startswith("http"))
            query = {"query": "{ runs(first: 1) { totalCount } }"}
            httpx.post(f"{url}/graphql", json=query, timeout=WAIT_S, trust_env=False).raise_for_status()
            return time.perf_counter() - start
        finally:
            process.terminate()


def main() -> None:
    """Measure and print."""
    for package in PACKAGES:
        compileall.compile_dir(ROOT / package, quiet=1)
    seen = [{name: cpu_s(program) for name, program in PROGRAMS.items()} for _ in range(ROUNDS)]
    spent = {name: median(one[name] - one["nothing"] for one in seen) * 1e3 for name in PROGRAMS}
    tell(
        Row("start", "importing what `serve` needs, ms of CPU", spent["serve"], 400, "at most"),
        Row("start", "the same, and Python's taking it apart at its end, ms of CPU", spent["load"]),
        Row("start", "`kernelindex --help`, ms of CPU", spent["help"]),
    )
    if len(sys.argv) > 1:
        seconds = median(first_answer_s(sys.argv[1]) for _ in range(ROUNDS))
        tell(Row("start", "`serve` to its first answer, s", seconds, 1, "at most"))


PROGRAMS = {"nothing": "pass", "help": HELP, "load": LOAD, "serve": SERVE}

if __name__ == "__main__":
    main()
