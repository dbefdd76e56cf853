"""Everything in this folder, one after the other, in one run: ``make bench``. It also writes RESULTS.md."""

import datetime as dt
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
PLAIN = ("catalog_import.py", "ranking_groups.py", "fan_out.py", "audit_verify.py")
PACKAGES = ("strawberry-graphql", "graphql-core", "uvicorn", "msgspec", "eventsourcing")


def output_of(script: str, *arguments: str) -> str:
    """What a script prints, shown as it comes."""
    print(f"== {script}", flush=True)
    with subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        lines = []
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        raise SystemExit(f"{script} ended with status {process.returncode}")
    return "".join(lines)


def catalog() -> Path:
    """The file to serve: the whole catalog where it lies, else the sample."""
    if shared := os.environ.get("KERNELINDEX_SHARED"):
        return next((Path(shared) / "data" / "catalog").glob("*.jsonl.zst"))
    return HERE.parent / "service" / "sample" / "sample.jsonl.zst"


def servers() -> str:
    """Our server over the catalog, beside those of Node."""
    with TemporaryDirectory() as folder:
        program = "from service.cli import main; raise SystemExit(main())"
        environment = os.environ | {"KERNELINDEX_DATA_DIR": folder}
        command = [sys.executable, "-c", program, "import", str(catalog())]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return output_of("graphql_servers.py", folder)


def where() -> str:
    """On what it was measured."""
    node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    today = dt.datetime.now(dt.UTC).date()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return (
        f"Measured on {today}: {catalog().name}, Python {platform.python_version()}, Node {node}, {packages};"
        f" {os.cpu_count()} cores, load {load} at the end."
    )


def main() -> None:
    """Run and write."""
    parts = [f"## GraphQL servers\n\n{servers()}"]
    parts += [f"## {script.removesuffix('.py')}\n\n```\n{output_of(script)}```\n" for script in PLAIN]
    text = "\n".join(["# Results of `make bench`", "", where(), "", *parts])
    (HERE / "RESULTS.md").write_text(text)


if __name__ == "__main__":
    main()
