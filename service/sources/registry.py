"""All sources that we can read files of, by name. Another one is its file and its line here."""

from collections.abc import Mapping
from typing import Final

from service.sources import flashinfer_traces, kernelbot, liger, sol_leaderboard, sol_traces
from service.sources.base import Source

SOURCES: Final[Mapping[str, Source]] = {
    module.SOURCE.name: module.SOURCE
    for module in (
        sol_leaderboard,
        sol_traces,
        flashinfer_traces,
        kernelbot,
        liger,
    )
}
