"""What ``kernelindex`` runs: finds the command, and says what went wrong without a traceback."""

import os
import sys

from cyclopts import App, Parameter

from service.memory import search_no_garbage_yet


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 takes long to load, and is for --version alone

    return version("kernelindex")


app = App(
    name="kernelindex",
    help="A public, citable index of GPU-kernel benchmark runs.\n\nThe data is in the folder KERNELINDEX_DATA_DIR, by"
    " default ./kernelindex-data.",
    version=_version,
    help_format="plaintext",
    default_parameter=Parameter(negative=""),
)
app.command("service.cli.importing:import_files", name="import", help="Import files of sources, catalogs, bundles.")
app.command("service.cli.serving:serve", name="serve", help="Serve the index over HTTP.")
app.command("service.cli.demo:demo", name="demo", help="Import the sample and serve it, for trying things out.")
app.command("service.cli.feeding:demo_feed", name="demo-feed", help="Add a made-up run to a demo every few seconds.")
app.command("service.cli.watching:watch", name="watch", help="Print new runs of a running index as they come.")
app.command("service.cli.asking:query", name="query", help="Run a GraphQL query on the index, here in this process.")
app.command("service.cli.comparing:compare", name="compare", help="Put runs side by side, field by field.")
app.command("service.cli.citing:cite", name="cite", help="Print citations of runs.")
app.command("service.cli.asking:schema", name="schema", help="Print the GraphQL schema.")
app.command("service.cli.replaying:replay_until", name="replay", help="Show the log as it stood at a moment.")
app.command("service.cli.pushing:push", name="push", help="Send bundles to a running index.")
app.command("service.cli.keys:app", name="keys", help="Make, list and revoke API keys.")
app.command(
    "service.cli.runner:app", name="runner", help="Measure runs again, for an index that approved this machine."
)
app.command("service.cli.erasing:erase", name="erase", help="Erase an event's payload, where the law asks for it.")
manifest = App(name="manifest", help="Check manifests.")
manifest.command("service.cli.manifests:validate", name="validate", help="Say what is wrong with manifests or bundles.")
manifest.command("service.cli.manifests:digest", name="digest", help="Print the digest of a manifest.")
app.command(manifest)
app.command("service.cli.auditing:app", name="audit", help="Export the log, prove it, verify it.")
app.command("service.cli.views:app", name="views", help="Check the views against the log, or make them again.")
sources = App(name="sources", help="Say which formats of sources can be imported.")
sources.command("service.cli.sources:list_sources", name="list", help="List the formats of sources that import reads.")
sources.command("service.cli.sources:describe_source", name="describe", help="Say what one of them reads and needs.")
app.command(sources)

INTERRUPTED = 130


def main() -> None:
    """Run the command that the arguments name. Exit status: 0 fine, 1 something was refused or failed, 2 misused."""
    search_no_garbage_yet()
    try:
        sys.exit(app(sys.argv[1:], result_action="return_value"))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Who read our output has seen enough of it; what is still buffered must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        from service.cli.failures import lines_of  # noqa: PLC0415 only now is it worth the time that it takes to load

        lines = lines_of(error)
        if not lines:
            raise
        print(*lines, sep="\n", file=sys.stderr)  # noqa: T201 this is what the command line is for
        sys.exit(1)
