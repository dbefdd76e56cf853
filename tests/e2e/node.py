"""Programs of Node and the packages that they need, for tests that hold us against what others have written."""

import shutil
import subprocess
from pathlib import Path

import pytest


def node_with_packages(folder: Path) -> str:
    """Node's path, with the packages in the lock file of this folder installed; skips the test where that can't be."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        pytest.skip("needs node and npm on the path")
    if not (folder / "node_modules" / ".package-lock.json").is_file():
        command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        installed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
        if installed.returncode:
            pytest.skip(f"npm could not install the packages: {installed.stderr.strip()[-300:]}")
    return node
