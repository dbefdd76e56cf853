"""Names of operations, implementations, revisions, records and hardware as people read them."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.display.names import (
    external_id_text,
    implementation_name,
    operation_name,
    revision_text,
    slugify,
)

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        (
            "009_expert_token_scatter_with_weighted_forward_backward",
            "Expert token scatter with weighted forward backward",
        ),
        ("025_moe_expert_parallel_execution_backward", "MoE expert parallel execution backward"),
        ("013_fp8_mla_kv_compression_projection", "FP8 MLA KV compression projection"),
        (
            "027_grouped_query_attention_with_yarn_rope_and_qk_norm",
            "Grouped query attention with YaRN RoPE and QK norm",
        ),
        ("029_nvfp4_fused_mlp_silu_gating", "NVFP4 fused MLP SiLU gating"),
        ("gqa_paged_decode_h32_kv8_d128_ps1", "GQA paged decode h32 kv8 d128 ps1"),
        ("gemm_n2048_k4096", "GEMM n2048 k4096"),
        ("fused_add_rmsnorm_h2048", "Fused add RMSNorm h2048"),
        ("068_gelu_approximate_feedforward_backward", "GELU approximate feedforward backward"),
        ("048_fused_gate_up_projection_with_swiglu", "Fused gate up projection with SwiGLU"),
        ("090_batched_2d_rope_position_encoding_backward", "Batched 2D RoPE position encoding backward"),
        ("top_k_top_p_sampling_from_probs_v128256", "Top-k top-p sampling from probs v128256"),
        ("033_nvfp4_moe_routing_with_topk_selection", "NVFP4 MoE routing with top-k selection"),
        (
            "052_seqlen-finetuned-reconstructed_hyena_gating_and_output_projection",
            "Seqlen-finetuned-reconstructed Hyena gating and output projection",
        ),
        ("079_ImageNet_83.6_ssm_output_projection", "ImageNet 83.6 SSM output projection"),
        ("AMD FP8 blockwise GEMM", "AMD FP8 blockwise GEMM"),
        ("AMD DeepSeek-style MoE layer", "AMD DeepSeek-style MoE layer"),
        ("2D convolution", "2D convolution"),
        ("RMSNorm, hidden size 4096", "RMSNorm, hidden size 4096"),
        ("Attention after Vaswani", "Attention after Vaswani"),
        ("Gated DeltaNet chunk_fwd_h", "Gated DeltaNet chunk fwd h"),
        ("1_Square_Matrix_Multiplication_", "Square matrix multiplication"),
        ("4_Conv2D_ReLU_BiasAdd", "Conv2D ReLU BiasAdd"),
        ("011_2d_rope", "2D RoPE"),
        ("42", "42"),
        ("042_", "042"),
        ("_", "_"),
    ],
)
def test_operation_names_read_as_sentences(title: str, name: str) -> None:
    assert operation_name(title) == name


@given(st.text(min_size=1) | st.from_regex(r"\A([0-9]{1,3}_)?[A-Ca-ckmop]{1,3}([_ -](top|k|moe|fp8|Ab|[a-d]))*_?\Z"))
def test_an_operation_name_is_never_empty_and_is_its_own_name(title: str) -> None:
    name = operation_name(title)

    assert name
    assert operation_name(name) == name


@pytest.mark.parametrize(
    ("title", "operation", "name"),
    [
        ("Argus · 009_expert_token_scatter", ["009_expert_token_scatter"], "Argus"),
        ("Amir M. Mir | SF Tensor · 005_swiglu_mlp_backward", ["005_swiglu_mlp_backward"], "Amir M. Mir | SF Tensor"),
        ("trimul · submission 407575", ["Triangle multiplicative update", "trimul"], "submission 407575"),
        ("amd-mla-decode · submission 31174", ["AMD MLA decode"], "submission 31174"),
        ("trimul · submission 407575", ["Triangle multiplicative update"], "trimul"),
        ("rmsnorm_h128 · Argus · B200", ["021_rmsnorm_h128"], "Argus"),
        ("rmsnorm_h128", ["021_rmsnorm_h128"], "rmsnorm_h128"),
        ("flashinfer_wrapper_71bd33", ["gqa_paged_decode"], "flashinfer_wrapper_71bd33"),
        ("meridian-rmsnorm (fictional)", [], "meridian-rmsnorm (fictional)"),
    ],
)
def test_an_implementation_goes_by_the_first_part_that_is_not_its_operation(
    title: str, operation: list[str], name: str
) -> None:
    assert implementation_name(title, *operation) == name


@pytest.mark.parametrize(
    ("revision", "text"),
    [
        ({"version": "submission-17401"}, "submission-17401"),
        ({"version": "v2", "commit": COMMIT}, "v2"),
        ({"repository": "https://example.invalid/r", "commit": COMMIT}, "0123456789ab"),
        ({"treeDigest": "sha256:" + "ab" * 32}, "abababababab"),
        ({}, None),
    ],
)
def test_a_revision_is_its_version_else_its_commit_else_its_tree(revision: dict[str, Any], text: str | None) -> None:
    assert revision_text({"projectRevision": revision}) == text


@pytest.mark.parametrize(
    ("source", "external_id", "text"),
    [
        ("sol-execbench", "17401", "submission/17401"),
        ("sol-execbench", "submission/17401", "submission/17401"),
        ("sol-execbench", "17401a", "17401a"),
        ("sol-execbench", "١٧", "١٧"),
        ("gpumode-kernelbot", "17401", "17401"),
    ],
)
def test_only_the_bare_numbers_of_sol_are_shown_as_submissions(source: str, external_id: str, text: str) -> None:
    assert external_id_text(source, external_id) == text


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3"),
        (" AMD Instinct™ MI300X ", "amd-instincttm-mi300x"),
        ("Grafikkarte für Rechner", "grafikkarte-fur-rechner"),
    ],
)
def test_hardware_slugs_are_plain_words(name: str, slug: str) -> None:
    assert slugify(name) == slug


def test_names_without_an_ascii_letter_still_have_slugs_of_their_own() -> None:
    assert re.fullmatch(r"[0-9a-f]{8}", slugify("昇腾"))
    assert slugify("昇腾") != slugify("寒武纪")


@given(st.text())
def test_a_slug_needs_no_escaping_anywhere_and_is_its_own_slug(name: str) -> None:
    slug = slugify(name)

    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert slugify(slug) == slug
