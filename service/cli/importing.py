"""``kernelindex import``."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from domain.errors import ErrorCode, InvalidInput
from service.importing.companion import Companion, is_large
from service.importing.files import find
from service.settings import Settings


async def import_files(
    path: Path,
    /,
    *paths: Path,
    source: str | None = None,
    revision: str | None = None,
    kernel: Annotated[list[Path] | None, Parameter(consume_multiple=False)] = None,
    whole: bool = False,
    retract_removed: bool = False,
    reason: str | None = None,
    rejects: Path | None = None,
    dry_run: bool = False,
    json: bool = False,
) -> int:
    """Import files of leaderboards and benchmarks, catalog exports, bundles and manifests.

    A file is documents a line (.jsonl), rows of a table (.csv), or one document (.json, .yaml), as it is or compressed
    (.zst). Of a folder, all such files are imported. `kernelindex sources list` names the formats of sources that are
    read. What is refused is listed and keeps nothing else out; the exit status is then 1.

    Parameters
    ----------
    path
        A file or folder.
    paths
        More of them.
    source
        The format, where it can't be told from the files.
    revision
        The commit that the files were taken at.
    kernel
        A file that describes kernels which the others only name. May be given again and again.
    whole
        The files hold all that the source has of the kernels in them: what is not there was removed by it.
    retract_removed
        Retract what the source has disqualified or removed. Without it that is only reported. Needs a reason.
    reason
        Why it is to be retracted; shown with the record for ever.
    rejects
        A file to write what was refused to, one JSON line for each reason.
    dry_run
        Say what would happen, and record nothing.
    json
        Print the whole report as JSON.
    """
    if retract_removed != bool(reason):
        raise InvalidInput.because(
            "--retract-removed and --reason belong together",
            code=ErrorCode.INVALID_ARGUMENT,
            remedy="say why the records are to be retracted, or leave both out",
        )
    wanted, settings = [path, *paths], Settings()
    files, _ = find(wanted)
    companion = Companion(settings.data_dir)
    if not dry_run and is_large(files):
        companion.start()
    # Only now: the companion starts while this process loads the rest.
    from service.app import open_index  # noqa: PLC0415
    from service.cli.output import print_json, print_report, progress, write_rejects  # noqa: PLC0415
    from service.importing.jobs import import_into, try_import  # noqa: PLC0415
    from service.importing.upstream import Options  # noqa: PLC0415
    from service.logs import quiet_logs  # noqa: PLC0415
    from service.memory import search_garbage_less  # noqa: PLC0415

    quiet_logs()
    search_garbage_less()
    options = Options(source=source, revision=revision, kernels=tuple(kernel or ()), whole=whole, retract=reason)
    with progress(files) as advance:
        if dry_run:
            report = await try_import(settings, wanted, advance=advance, options=options)
        else:
            async with open_index(settings, follow=False) as index:
                report = await import_into(index, wanted, advance=advance, companion=companion, options=options)
    if rejects:
        write_rejects(report, rejects)
    if json:
        print_json(report.to_json())
    else:
        print_report(report)
    return 1 if report.refused else 0
