"""Everything in this folder, one after the other, in one run: ``make bench``. It also writes RESULTS.md.

A part that fails or takes too long is said to have, and the others are measured all the same.
"""

import datetime as dt
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from data import catalog
from rows import Row, rows_in, table

HERE = Path(__file__).parent
PARTS = (
    "graphql_servers.py",
    "start.py",
    "memory.py",
    "catalog_import.py",
    "append.py",
    "ranking_groups.py",
    "fan_out.py",
    "slow_readers.py",
    "coming_and_going.py",
    "audit_verify.py",
)
OVER_A_CATALOG = ("graphql_servers.py", "start.py", "memory.py")
"""The scripts that are given a data folder."""
SHORTER = {"audit_verify.py": "100000", "ranking_groups.py": "10000"}
"""What a script is given where it would take longer by itself."""
PACKAGES = ("strawberry-graphql", "graphql-core", "uvicorn", "msgspec", "eventsourcing")
PART_S = 600
"""How long a part may take."""


def measured(script: str, *arguments: str) -> tuple[list[Row], str]:
    """The rows that a script tells, and what became of it where it failed."""
    print(f"== {script}", flush=True)
    command = [sys.executable, str(HERE / script), *arguments]
    with TemporaryDirectory() as folder:
        told = Path(folder) / "output"
        with told.open("w") as file, subprocess.Popen(command, stdout=file, start_new_session=True) as process:
            try:
                status = process.wait(PART_S)
                failure = f"ended with status {status}" if status else ""
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                failure = f"took longer than {PART_S} seconds"
        output = told.read_text()
    print(output, failure, flush=True)
    return rows_in(output), f"`{script}` {failure}." if failure else ""


def import_into(folder: str, path: Path) -> None:
    """Have a file imported into a data folder."""
    command = [sys.executable, "-c", "from service.cli import main; raise SystemExit(main())", "import", str(path)]
    environment = os.environ | {"KERNELINDEX_DATA_DIR": folder}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def where(path: Path) -> str:
    """On what it was measured."""
    found = shutil.which("node")
    node = subprocess.run([found, "--version"], check=True, capture_output=True, text=True).stdout if found else "none"
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    today = dt.datetime.now(dt.UTC).date()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return (
        f"Measured on {today}: {path.name}, Python {platform.python_version()}, Node {node.strip()}, {packages};"
        f" {os.cpu_count()} cores, load {load} at the end."
    )


def main(scripts: Sequence[str]) -> int:
    """Run and write; 1 where a part failed."""
    rows, failures = list[Row](), list[str]()
    with TemporaryDirectory() as folder, TemporaryDirectory() as beside:
        path = catalog(Path(beside))
        import_into(folder, path)
        for script in scripts or PARTS:
            given = folder if script in OVER_A_CATALOG else SHORTER.get(script)
            found, failure = measured(script, *([given] if given else []))
            rows += found
            failures += [failure] if failure else []
    text = "\n\n".join(["# Results of `make bench`", where(path), table(rows), *failures])
    print(text)
    if not scripts:
        (HERE / "RESULTS.md").write_text(f"{text}\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
