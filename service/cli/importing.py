"""``kernelindex import``."""

from pathlib import Path

from service.importing.companion import Companion, is_large
from service.importing.files import find
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
    wanted, settings = [path, *paths], Settings()
    files, _ = find(wanted)
    companion = Companion(settings.data_dir)
    if not dry_run and is_large(files):
        companion.start()
    # Only now: the companion starts while this process loads the rest.
    from service.app import open_index  # noqa: PLC0415
    from service.cli.output import print_json, print_report, progress, quiet_logs  # noqa: PLC0415
    from service.importing.jobs import import_into, try_import  # noqa: PLC0415
    from service.memory import search_garbage_less  # noqa: PLC0415

    quiet_logs()
    search_garbage_less()
    with progress(files) as advance:
        if dry_run:
            report = await try_import(settings, wanted, advance=advance)
        else:
            async with open_index(settings, follow=False) as index:
                report = await import_into(index, wanted, advance=advance, companion=companion)
    if json:
        print_json(report.to_json())
    else:
        print_report(report)
    return 1 if report.refused else 0
