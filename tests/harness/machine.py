"""What this machine is, as a manifest."""

import platform
from pathlib import Path
from typing import Any


def environment() -> dict[str, Any]:
    """The manifest of this machine."""
    cpu = _cpuinfo()
    hardware = {
        "vendor": cpu.get("vendor_id", "unknown").lower(),
        "product": cpu.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine().lower(),
    }
    software = {
        "operatingSystem": platform.system(),
        "kernel": platform.release(),
        "framework": {"name": "python", "version": platform.python_version()},
    }
    return {
        "apiVersion": "kernelindex.dev/v1alpha1",
        "kind": "ExecutionEnvironment",
        "metadata": {"name": "cpu-harness-host"},
        "spec": {"hardware": hardware, "software": software},
    }


def _cpuinfo() -> dict[str, str]:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = [line.partition(":") for line in lines]
    return {name.strip(): value.strip() for name, _, value in reversed(pairs) if value}
