"""What hardware is called. A name that is not in the tables is kept as published, and reported.

A product is what one can buy: an H100 PCIe is no H100 SXM, and a name that leaves it open is a third one. So names are
aliases only of what they say, never of what is likely.
"""

from typing import Final, NamedTuple

UNKNOWN: Final = "unknown"


class Hardware(NamedTuple):
    """A product as we call it, its architecture, and whether the published name was in our tables."""

    product: str
    vendor: str
    architecture: str
    known: bool


_PRODUCTS: Final = {
    "NVIDIA A100": "sm_80",
    "NVIDIA A100-SXM4-40GB": "sm_80",
    "NVIDIA A100-SXM4-80GB": "sm_80",
    "NVIDIA A100 80GB PCIe": "sm_80",
    "NVIDIA B200": "sm_100",
    "NVIDIA GB200": "sm_100",
    "NVIDIA GH200 480GB": "sm_90",
    "NVIDIA GeForce RTX 4090": "sm_89",
    "NVIDIA H20": "sm_90",
    "NVIDIA H100": "sm_90",
    "NVIDIA H100 80GB HBM3": "sm_90",
    "NVIDIA H100 NVL": "sm_90",
    "NVIDIA H100 PCIe": "sm_90",
    "NVIDIA H200": "sm_90",
    "NVIDIA L4": "sm_89",
    "NVIDIA L40S": "sm_89",
    "NVIDIA T4": "sm_75",
    "AMD Instinct MI250X": "gfx90a",
    "AMD Instinct MI300X": "gfx942",
    "AMD Instinct MI325X": "gfx942",
    "AMD Instinct MI355X": "gfx950",
}
_ALIASES: Final = {
    "a100": "NVIDIA A100",
    "b200": "NVIDIA B200",
    "gb200": "NVIDIA GB200",
    "h20": "NVIDIA H20",
    "h100": "NVIDIA H100",
    "h200": "NVIDIA H200",
    "l4": "NVIDIA L4",
    "l40s": "NVIDIA L40S",
    "t4": "NVIDIA T4",
    "mi300": "AMD Instinct MI300X",
    "mi300x": "AMD Instinct MI300X",
    "mi355x": "AMD Instinct MI355X",
} | {product.lower(): product for product in _PRODUCTS}


def hardware(published: str) -> Hardware:
    """The hardware that a source means by this name. Case, underscores and blanks around or between don't matter."""
    product = _ALIASES.get(" ".join(published.replace("_", " ").split()).lower())
    if product is None:
        return Hardware(published, _vendor(published), UNKNOWN, known=False)
    return Hardware(product, _vendor(product), _PRODUCTS[product], known=True)


def _vendor(product: str) -> str:
    words = product.replace("_", " ").lower().split()
    return words[0] if words and words[0] in ("amd", "intel", "nvidia") else UNKNOWN
