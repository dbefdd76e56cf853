"""What a manifest becomes when it is read, and that it stays that for ever."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from domain.errors import ErrorCode, InvalidInput
from domain.identity import canonical_json, correctness_key, digest_of
from domain.json_text import Json, read_json
from domain.manifests import Kind, Manifest, read_manifest, stored_manifest

FIXTURES = Path(__file__).parents[2] / "fixtures"
EXAMPLES = sorted((FIXTURES / "manifests").glob("*.json"), key=lambda path: path.stem)
PINNED = {
    "case": "sha256:556bbb73186139b2b6e766b741a7a96845972387958090247996fde601f64861",
    "environment": "sha256:938d1ac4e284726bb1ae7dcb46d5d944c2d122e4d2838a93185811c63909a833",
    "implementation": "sha256:c0fa12044882a8a428dfed29388f42cece13dfff625dca0371e22fd1ebd670d7",
    "operation": "sha256:8849c5089e4b35534a4aea6f0ae781deb66ca3cb97bc3618c7587f86bf1c2d81",
    "project": "sha256:d39041c2686f06d8f34ffd04803142c70925276f8ef496cbcd41ac1f1cef3860",
    "protocol": "sha256:d50645247c00d417cac1db18548bb1c4dffa3a110c3b8b1604cc706a0da875fb",
    "run": "sha256:67b06f41c6381d4ec79124e95088ecf94c58ac64adb69eb3c5e60fdd7a26eb8a",
    "suite": "sha256:ece4466e158c056fae55a20c0419e4e5e13d3fe66117222a75276372d66442bb",
}


def example(name: str) -> Any:
    return read_json((FIXTURES / f"manifests/{name}.json").read_bytes())


def manifest(kind: str, spec: Json, **metadata: Json) -> Json:
    return {"apiVersion": "kernelindex.dev/v1alpha1", "kind": kind, "metadata": {"name": "x", **metadata}, "spec": spec}


def test_there_is_an_example_of_every_kind() -> None:
    assert {example(path.stem)["kind"] for path in EXAMPLES} == set(Kind)


@pytest.mark.parametrize("name", PINNED)
def test_the_digest_of_an_example_never_changes(name: str) -> None:
    assert read_manifest(example(name)).digest == PINNED[name]


@pytest.mark.parametrize("seed", ["sol-submission-17401", "sol-submission-20464"])
def test_the_seed_records_have_their_published_digests(seed: str) -> None:
    bundle = json.loads((FIXTURES / f"seeds/{seed}.bundle.json").read_bytes())
    (expected,) = (
        record
        for record in json.loads((FIXTURES / "seeds/expected.json").read_bytes())
        if record["file"].startswith(seed)
    )
    for part in ("run", "implementation", "workload", "operation", "protocol", "environment", "project"):
        assert read_manifest(bundle[part]).digest == expected[f"{part}Digest"]


def test_durations_become_integer_nanoseconds_and_only_given_fields_are_kept() -> None:
    latency = read_manifest(example("run")).spec["timing"]["latencyNs"]
    assert latency == {
        "median": 8120,
        "mean": 8131,
        "p05": 8072,
        "p95": 8151,
        "minimum": 8054,
        "maximum": 8390,
        "mad": 24,
        "confidence95": [8095, 8151],
    }
    assert read_manifest(example("protocol")).spec["measurement"]["warmupDuration"] == 25_000_000


def test_set_like_lists_are_sorted_without_repeats_and_all_others_keep_their_order() -> None:
    spec = read_manifest(example("implementation")).spec
    assert spec["support"] == {
        "hardwareArchitectures": ["sm_100", "sm_90"],
        "productsTested": ["NVIDIA B200", "NVIDIA H100"],
        "axes": ["columns == 1024", "rows >= 1"],
        "dtypes": ["bf16", "fp16"],
        "layouts": ["contiguous", "row_major"],
    }
    assert [variant["name"] for variant in spec["buildVariants"]] == ["wheel", "source"]
    suite = read_manifest(example("suite")).spec
    assert [case["externalId"] for case in suite["cases"]] == ["small", "large"]


def test_set_like_lists_sort_by_utf16_code_units_as_keys_do() -> None:
    tree = example("implementation")
    tree["spec"]["support"]["layouts"] = ["\uffee", "😀", "a"]
    assert read_manifest(tree).spec["support"]["layouts"] == ["a", "😀", "\uffee"]


def test_metadata_is_kept_and_is_no_part_of_the_identity() -> None:
    tree = example("project")
    other = copy.deepcopy(tree)
    other["metadata"] = {"name": "another", "title": "Another title"}
    one, two = read_manifest(tree), read_manifest(other)
    assert one.digest == two.digest
    assert one.canonical != two.canonical
    assert (one.name, one.title) == ("tern-kernels", "Tern Kernels")
    assert two.metadata == other["metadata"]


def test_the_title_falls_back_to_the_name() -> None:
    assert read_manifest(manifest("SoftwareProject", {"name": "P"})).title == "x"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_canonical_bytes_are_the_rfc_8785_form_of_the_whole_manifest(path: Path) -> None:
    read = read_manifest(example(path.stem))
    whole = {"apiVersion": read.api_version, "kind": read.kind, "metadata": read.metadata, "spec": read.spec}
    assert read.canonical == canonical_json(whole)
    assert read.digest == digest_of(canonical_json({key: whole[key] for key in ("apiVersion", "kind", "spec")}))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_reading_the_canonical_bytes_again_changes_nothing(path: Path) -> None:
    first = read_manifest(example(path.stem))
    again = read_manifest(read_json(first.canonical))
    stored = stored_manifest(first.canonical)
    assert again == first == stored
    assert repr(again.spec) == repr(first.spec) == repr(stored.spec)
    assert repr(again.metadata) == repr(first.metadata) == repr(stored.metadata)


def test_reading_leaves_the_tree_as_it_was() -> None:
    tree = example("run")
    before = copy.deepcopy(tree)
    read_manifest(tree)
    assert tree == before


def test_a_stored_manifest_is_read_whatever_the_models_of_today_say() -> None:
    canonical = b'{"apiVersion":"kernelindex.dev/v1alpha0","kind":"SoftwareProject","metadata":{"name":"Old Name"},"spec":{"gone":1}}'
    stored = stored_manifest(canonical)
    assert stored.spec == {"gone": 1}
    assert stored.api_version == "kernelindex.dev/v1alpha0"
    identity = b'{"apiVersion":"kernelindex.dev/v1alpha0","kind":"SoftwareProject","spec":{"gone":1}}'
    assert stored.digest == digest_of(identity)


def test_a_stored_manifest_takes_the_digest_that_its_reader_knows() -> None:
    canonical = read_manifest(example("suite")).canonical
    assert stored_manifest(canonical, PINNED["suite"]) == read_manifest(example("suite"))


@pytest.mark.parametrize(
    "canonical", [b"", b"{}", b'{"apiVersion":"a","kind":"Nothing","metadata":{},"spec":{}}', b"[1]"]
)
def test_bytes_that_are_no_stored_manifest_are_refused(canonical: bytes) -> None:
    with pytest.raises(InvalidInput) as caught:
        stored_manifest(canonical)
    assert caught.value.problems[0].code == ErrorCode.MALFORMED_DOCUMENT


def test_a_large_float_keeps_its_digest_and_stays_a_float_after_storage() -> None:
    # RFC 8785 writes 1e20 with 21 digits and no exponent, and refuses integers of that size.
    tree = example("case")
    tree["spec"]["correctness"]["maxAbsoluteError"] = 1e20
    tree["spec"]["scalars"]["scale"]["value"] = -9007199254740992.0
    read = read_manifest(tree)
    stored = stored_manifest(read.canonical)
    assert b"100000000000000000000" in read.canonical
    assert stored == read
    assert type(stored.spec["correctness"]["maxAbsoluteError"]) is float
    assert correctness_key(stored.spec) == correctness_key(read.spec)
    assert canonical_json(stored.spec) == canonical_json(read.spec)


def test_an_integer_may_be_written_as_a_float_and_is_the_same_manifest() -> None:
    tree = example("run")
    tree["spec"]["timing"]["samples"] = 20.0
    tree["spec"]["timing"]["latencyNs"]["mean"] = 8131.0
    read = read_manifest(tree)
    assert read.digest == PINNED["run"]
    assert type(read.spec["timing"]["samples"]) is int


def test_an_interval_keeps_what_the_published_schema_leaves_open() -> None:
    for interval, kept in (([], []), (["1 us"], [1000]), ([1, 2, "x", None], [1, 2, "x", None])):
        tree = example("run")
        tree["spec"]["timing"]["latencyNs"]["confidence95"] = interval
        assert read_manifest(tree).spec["timing"]["latencyNs"]["confidence95"] == kept


def test_a_long_list_is_normalised_to_its_end() -> None:
    tree = example("operation")
    tree["spec"]["inputs"] = [
        {"name": f"n{index}", "tensor": {"shape": [float(index)] * 200, "dtype": "bf16"}} for index in range(200)
    ]
    tree["spec"]["axes"] = {
        f"a{index}": {"role": "constant", "type": "integer", "value": float(index)} for index in range(200)
    }
    spec = read_manifest(tree).spec
    assert [parameter["tensor"]["shape"] for parameter in spec["inputs"]] == [[index] * 200 for index in range(200)]
    assert [spec["axes"][f"a{index}"]["value"] for index in range(200)] == list(range(200))


def test_two_manifests_are_equal_where_their_bytes_are_and_can_be_kept_in_a_set() -> None:
    one, two = read_manifest(example("run")), read_manifest(example("run"))
    assert one == two
    assert len({one, two, read_manifest(example("case"))}) == 2


def test_a_manifest_is_frozen() -> None:
    with pytest.raises(AttributeError):
        read_manifest(example("run")).digest = "x"  # type: ignore[misc]


class TestCases:
    """Faults that people really met, with the answers agreed for us."""

    def test_15_the_same_name_in_two_unicode_forms(self) -> None:
        composed = manifest("SoftwareProject", {"name": "Jürgen Kärnel"})
        read = read_manifest(read_json(json.dumps(composed)))
        assert read.digest == "sha256:c629d365849d81f8d4c320dc92b8af6d8948c54a1d4bffb485cdf4fb6ba3480a"
        decomposed = manifest("SoftwareProject", {"name": "Ju\u0308rgen Ka\u0308rnel"})
        for ascii_only in (True, False):
            with pytest.raises(InvalidInput) as caught:
                read_json(json.dumps(decomposed, ensure_ascii=ascii_only))
            assert [(problem.code, problem.path) for problem in caught.value.problems] == [
                (ErrorCode.INVALID_TEXT, "spec.name")
            ]

    def test_19_half_a_character(self) -> None:
        text = json.dumps(manifest("SoftwareProject", {"name": "NAME"}) | {"metadata": {"name": "lone-3"}})  # type: ignore[operator]
        whole = read_manifest(read_json(text.replace("NAME", r"\ud83d\ude00")))
        assert whole.digest == "sha256:59cfb859353ace0196fa6060a84c13aaaa23dcbdb8a199433355deb0a1f40d12"
        for half in (r"kern\ud800el", r"\ude00\ud83d", r"\uD83D"):
            with pytest.raises(InvalidInput) as caught:
                read_json(text.replace("NAME", half))
            assert caught.value.problems[0].path == "spec.name"

    @pytest.mark.parametrize("name", ["kern\ud800el", "\ude00\ud83d"])
    def test_19_also_in_a_tree_that_no_parser_has_checked(self, name: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            read_manifest(manifest("SoftwareProject", {"name": name}))
        assert [(problem.code, problem.path) for problem in caught.value.problems] == [
            (ErrorCode.INVALID_TEXT, "spec.name")
        ]

    @pytest.mark.parametrize(
        ("latency", "nanoseconds"),
        [
            ("2147483647 ns", 2147483647),
            ("2147483648 ns", 2147483648),
            ("4891.380208 ms", 4891380208),
            ("5400 s", 5400000000000),
        ],
    )
    def test_21_values_beyond_32_bits(self, latency: str, nanoseconds: int) -> None:
        tree = example("run")
        tree["spec"]["timing"]["latencyNs"] = {"median": latency}
        assert read_manifest(tree).spec["timing"]["latencyNs"] == {"median": nanoseconds}

    @pytest.mark.parametrize("latency", ["0.0000005 ms", "8120", "1e3 ns", "-1 ns"])
    def test_27_what_is_no_duration(self, latency: str) -> None:
        tree = example("run")
        tree["spec"]["timing"]["latencyNs"] = {"median": latency}
        with pytest.raises(InvalidInput) as caught:
            read_manifest(tree)
        (problem,) = caught.value.problems
        assert problem.path == "spec.timing.latencyNs.median"
        assert "8120" in problem.remedy
        assert "8.12 us" in problem.remedy

    @pytest.mark.parametrize("field", ["median", "confidence95"])
    @pytest.mark.parametrize("latency", ["8119.99999999999999999", "0.00000000000000000000001e-310", "8120.5"])
    def test_a_number_that_is_whole_by_rounding_alone_is_no_duration(self, latency: str, field: str) -> None:
        def written(number: str) -> str:
            tree = example("run")
            tree["spec"]["timing"]["latencyNs"] = {field: "HERE" if field == "median" else [1, "HERE"]}
            return json.dumps(tree).replace('"HERE"', number)

        with pytest.raises(InvalidInput) as caught:
            read_manifest(read_json(written(latency)))
        assert caught.value.problems[0].path.startswith(f"spec.timing.latencyNs.{field}")
        assert read_manifest(read_json(written("8120.000"))) == read_manifest(read_json(written("8120")))

    @pytest.mark.parametrize(
        "instant", ["2026-08-14T05:38:25.741204", "2026-08-14", "1786000000", "2026-02-29T00:00:00Z"]
    )
    def test_31_instants_without_a_zone_or_a_day(self, instant: str) -> None:
        tree = example("run")
        tree["spec"]["observedAt"] = instant
        with pytest.raises(InvalidInput) as caught:
            read_manifest(tree)
        (problem,) = caught.value.problems
        assert problem.path == "spec.observedAt"
        assert "RFC 3339" in problem.remedy

    @pytest.mark.parametrize(
        "instant", ["2026-08-14T05:38Z", "2024-02-29T23:59:59Z", "2000-02-29T00:00:00.000000001Z", "0000-02-29T00:00Z"]
    )
    def test_31_instants_stay_as_written(self, instant: str) -> None:
        tree = example("run")
        tree["spec"]["observedAt"] = instant
        assert read_manifest(tree).spec["observedAt"] == instant

    def test_47_another_harness_version_is_another_protocol_and_another_title_is_not(self) -> None:
        def protocol(version: str, title: str) -> Manifest:
            spec: Json = {
                "harness": {"name": "tern-eval", "version": version},
                "measurement": {"timer": "device_events", "primaryStatistic": "median"},
            }
            return read_manifest(manifest("BenchmarkProtocol", spec, title=title))

        assert protocol("0.4.2", "Tern protocol").digest == (
            "sha256:ebaddce9a204f80548bb4db4cfeff5482d007efe1e958f0d709a2ed504f4116c"
        )
        assert protocol("0.4.3", "Tern protocol").digest == (
            "sha256:220283e8c890aa5b0ac8a0bb3a8637ed3e05999ad57a7471c1cbc26e033608c9"
        )
        assert protocol("0.4.2", "Retitled").digest == protocol("0.4.2", "Tern protocol").digest
