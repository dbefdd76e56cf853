"""``kernelindex views``: the views against the log."""

import sys

from cyclopts import App, Parameter

from domain.audit.findings import Tampered
from domain.errors import NotFound
from service.audit.rebuilding import rebuild_views, verify_views
from service.cli.auditing import AsJson, report
from service.cli.output import print_json
from service.data_folder import require_log
from service.logs import quiet_logs
from service.settings import Settings

app = App(
    name="views",
    help="Check the views against the log, or make them again.",
    help_format="plaintext",
    default_parameter=Parameter(negative=""),
)


@app.command
async def rebuild() -> None:
    """Make the views again from the log, beside the ones that are shown, and swap them. Servers may go on."""
    quiet_logs()
    folder = require_log(Settings().data_dir).parent
    position = await rebuild_views(folder)
    sys.stdout.write(f"The views are made again from {position:,} events.\n")


@app.command
async def verify(*, json: AsJson = False) -> int:
    """Make the views again in a temporary folder and compare them, row by row. Servers may go on."""
    quiet_logs()
    folder = require_log(Settings().data_dir).parent
    if not any(folder.glob("views-*.db")):
        raise NotFound.because(f"there are no views in {folder}", remedy="`kernelindex views rebuild` makes them")
    try:
        compared = await verify_views(folder)
    except Tampered as tampered:
        return report(tampered, as_json=json)
    if json:
        print_json({"verified": True, "position": compared.position, "tables": compared.tables, "rows": compared.rows})
    else:
        sys.stdout.write(
            f"The views are what the log makes of them at position {compared.position:,}:"
            f" {compared.rows:,} rows in {compared.tables} tables.\n"
        )
    return 0
