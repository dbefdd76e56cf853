"""Names as people read them."""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

SEPARATOR: Final = " · "
NUMBER_PREFIX: Final = re.compile(r"\A[0-9]+_+(?=.)")
CAPITALISED: Final = re.compile(r"[A-Z][a-z]+[0-9]*\Z")
NOT_ALPHANUMERIC: Final = re.compile(r"[\W_]+")
NOT_SLUG: Final = re.compile(r"[^a-z0-9]+")
ASCII_DIGITS: Final = re.compile(r"[0-9]+\Z")

NUMBERS_ARE_SUBMISSIONS: Final = frozenset({"sol-execbench"})

SPELLINGS: Final = (
    # attention, positions, caches
    *("CKV", "DSA", "GDN", "GQA", "KV", "MHA", "MLA", "MQA", "MTP", "NeoX", "NSA", "QK", "QKV", "RoPE", "YaRN"),
    # layers, activations, norms
    *("AltUp", "BatchNorm", "DeltaNet", "FFN", "GeGLU", "GELU", "GLU", "GRN", "GroupNorm", "LayerNorm", "LM", "LoRA"),
    *("MLP", "MoE", "ReGLU", "ReLU", "RMS", "RMSNorm", "SiLU", "SSD", "SSM", "SSU", "SwiGLU"),
    # models and their authors
    *("BERT", "Conformer", "ConvNeXt", "ConvNeXtV2", "DeepSeek", "DiT", "DS", "FLUX", "GIT", "GPT", "HQ", "Hyena"),
    *("ImageNet", "Llama", "LLM", "LSTM", "Mamba", "Mamba2", "Qwen", "ResNet", "RNN", "SAM", "UNet", "VAE", "ViT"),
    *("VLM", "Whisper"),
    # algebra and signal processing
    *("1D", "2D", "3D", "CNN", "FFT", "Gaussian", "GEMM", "GEMV", "IoU", "RFFT", "SpMM", "SpMV", "SVD"),
    # number formats and layouts
    *("BF16", "E2M1", "E4M3", "E5M2", "FP16", "FP32", "FP4", "FP6", "FP64", "FP8", "INT4", "INT8", "MXFP4", "MXFP6"),
    *("MXFP8", "NCHW", "NHWC", "NVFP4", "TF32"),
    # platforms
    *("AMD", "CPU", "CUDA", "CUTLASS", "DeepGEMM", "GPU", "NVIDIA", "PTX", "RGB", "ROCm", "TMA", "TRT"),
)
TABLE: Final = {spelling.casefold(): spelling for spelling in SPELLINGS} | {
    "topk": "top-k",
    "trtllm": "TensorRT-LLM",
}
TOP_K_OR_P: Final = re.compile(r"\btop ([kp])\b")


@lru_cache(maxsize=1024)
def operation_name(title: str) -> str:
    """``013_fp8_mla_kv_compression_projection`` as ``FP8 MLA KV compression projection``.

    The number prefix goes, underscores become spaces, what the table knows gets its usual spelling, the name begins
    with a capital. In an identifier other capitalised words become lower case; a title with spaces was written by a
    person and keeps its words.
    """
    words = NUMBER_PREFIX.sub("", title.strip(), count=1).replace("_", " ").split()
    if " " not in title.strip():
        words = [word.lower() if CAPITALISED.match(word) else word for word in words]
    name = TOP_K_OR_P.sub(r"top-\1", " ".join(_spelled(word) for word in words))
    return name[:1].upper() + name[1:] or title


def implementation_name(title: str, *operation_names: str) -> str:
    """The first part of ``part · part · …`` that does not repeat the operation; where each one does, the first.

    ``operation_names`` are all names of the operation, its aliases too: of ``trimul · submission 407575`` only the
    alias ``trimul`` tells that the first part names no implementation.
    """
    repeated = {_comparable(name) for name in operation_names}
    parts = [part for part in (part.strip() for part in title.split(SEPARATOR)) if part]
    return next((part for part in parts if _comparable(part) not in repeated), parts[0] if parts else title)


def revision_text(implementation_spec: Mapping[str, Any]) -> str | None:
    """What the implementation calls its revision: the version, else the first twelve digits of the commit or tree."""
    revision = implementation_spec.get("projectRevision", {})
    tree = revision.get("treeDigest", "").removeprefix("sha256:")
    return revision.get("version") or revision.get("commit", "")[:12] or tree[:12] or None


def external_id_text(source: str, external_id: str) -> str:
    """The id that a source (by slug) gave the record. SOL-ExecBench numbers its submissions: ``submission/17401``."""
    numbered = source in NUMBERS_ARE_SUBMISSIONS and ASCII_DIGITS.match(external_id)
    return f"submission/{external_id}" if numbered else external_id


def slugify(name: str) -> str:
    """A name for URLs (``NVIDIA H100 80GB HBM3`` as ``nvidia-h100-80gb-hbm3``): ASCII letters, digits, single hyphens.

    A name without any of these gets one from its digest, for a slug is never empty.
    """
    plain = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return NOT_SLUG.sub("-", letters).strip("-") or sha256(name.encode()).hexdigest()[:8]


def _spelled(word: str) -> str:
    return "-".join(TABLE.get(part.casefold(), part) for part in word.split("-"))


def _comparable(name: str) -> str:
    return NOT_ALPHANUMERIC.sub("", NUMBER_PREFIX.sub("", name.strip(), count=1)).casefold()
