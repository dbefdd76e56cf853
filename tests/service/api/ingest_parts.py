"""A process that ingests parts of a bundle, each as a save of its own: ``DATA_DIR BUNDLE_FILE PART…``.

It says ``ready`` once its index is open, and begins when it is sent a line.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from domain.bundles import read_bundle
from service.app import open_index
from service.settings import Settings
from tests.service.api.asking import ingest_all


async def main(data_dir: str, bundle: dict[str, Any], *parts: str) -> None:
    async with open_index(Settings(data_dir=Path(data_dir))) as index:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        for part in parts:
            await ingest_all(index, read_bundle({name: bundle[name] for name in part.split("+")}))


if __name__ == "__main__":
    folder, file, *named = sys.argv[1:]
    asyncio.run(main(folder, json.loads(Path(file).read_text(encoding="utf-8")), *named))
