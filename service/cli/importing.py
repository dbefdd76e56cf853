"""``kernelindex import``."""

from pathlib import Path

from service.app import open_index
from service.cli.output import print_json, print_report, progress, quiet_logs
from service.importing.files import find
from service.importing.jobs import import_into, try_import
from service.settings import Settings


async def import_files(path: Path, /, *paths: Path, dry_run: bool = False, json: bool = False) -> int:
    """Import catalog exports, bundles and manifests.

    A file is a catalog export or bundles a line (.jsonl), or one bundle or manifest (.json, .yaml), as it is or
    compressed (.zst). Of a folder, all such files are imported. What is refused is listed and keeps nothing else out;
    the exit status is then 1.

    Parameters
    ----------
    path
        A file or folder.
    paths
        More of them.
    dry_run
        Say what would happen, and record nothing.
    json
        Print the whole report as JSON.
    """
    quiet_logs()
    wanted, settings = [path, *paths], Settings()
    files, _ = find(wanted)
    with progress(files) as advance:
        if dry_run:
            report = await try_import(settings, wanted, advance=advance)
        else:
            async with open_index(settings, follow=False) as index:
                report = await import_into(index, wanted, advance=advance)
    if json:
        print_json(report.to_json())
    else:
        print_report(report)
    return 1 if report.refused else 0
