"""Formatted text by citeproc-py, and what each citation says whatever its format."""

import pytest

from domain.errors import ErrorCode, InvalidInput, NotFound
from service.citations import CitationFormat, WarningCode, bibliography, cite
from service.citations.cited import Name
from service.citations.styled import SHORT_NAMES
from tests.service.citations.cited_examples import DIGEST, PERMALINK, cited, written

TEXT = CitationFormat.TEXT
TITLE = "Argus: MoE expert parallel backward, suite of 16 cases · mean latency, NVIDIA B200"


def styled(style: str, **changes: object) -> str:
    return cite(cited(**changes), TEXT, style).content


class TestStyles:
    def test_apa(self) -> None:
        assert styled("apa") == (
            f"Argus. (2026). {TITLE} (Version 213) [Dataset]. KernelIndex. {PERMALINK} [evidence level REPORTED]\n"
        )

    def test_chicago(self) -> None:
        assert styled("chicago") == (
            "Argus. 2026. “Argus: MoE Expert Parallel Backward, Suite of 16 Cases · Mean Latency, NVIDIA B200”."
            f" Version 213. KernelIndex, August 24. {PERMALINK}. [evidence level REPORTED]\n"
        )

    def test_ieee(self) -> None:
        assert styled("ieee") == (
            f"Argus, “{TITLE}”. KernelIndex, Aug. 24, 2026. Accessed: Nov. 11, 2026. [Online]."
            f" Available: {PERMALINK} [evidence level REPORTED]\n"
        )

    @pytest.mark.parametrize("style", ["apa", "ieee", "nature", *SHORT_NAMES])
    def test_every_short_name_is_a_style(self, style: str) -> None:
        content = styled(style, standing=("contested", "retracted"))

        assert "Argus" in content
        assert PERMALINK in content
        assert content.endswith("[evidence level REPORTED, contested, retracted]\n")

    def test_a_style_that_takes_its_rules_from_another_is_followed(self) -> None:
        assert styled("nature-physics") == styled("nature")

    @pytest.mark.parametrize(("style", "missing"), [("ieee", False), ("nature", True)])
    def test_what_a_style_leaves_out_is_said(self, style: str, missing: bool) -> None:
        (warned,) = cite(cited(), TEXT, style).warnings

        assert warned.code is WarningCode.LEFT_OUT
        assert ("day of access" in warned.message) is missing

    @pytest.mark.parametrize("style", ["none-such", "", "../apa", "APA", "apa.csl", "a" * 200, "dependent/nature"])
    def test_an_unknown_style_is_not_found(self, style: str) -> None:
        with pytest.raises(NotFound):
            styled(style)

    @pytest.mark.parametrize(
        "style", ["art-history", "biological-journal-of-the-linnean-society", "computer-und-recht"]
    )
    def test_a_style_that_the_processor_can_not_follow_is_refused(self, style: str) -> None:
        """About one in twenty of the styles asks for what citeproc-py does not do."""
        with pytest.raises(InvalidInput) as refused:
            styled(style)

        assert refused.value.problems[0].path == "style"

    @pytest.mark.parametrize("as_", [one for one in CitationFormat if one is not TEXT])
    def test_only_text_has_styles(self, as_: CitationFormat) -> None:
        with pytest.raises(InvalidInput) as refused:
            cite(cited(), as_, "apa")

        assert refused.value.problems[0].code is ErrorCode.INVALID_ARGUMENT

    def test_markup_of_users_is_text(self) -> None:
        assert "vec<T> & <script>x</script>" in styled("apa", title="vec<T> & <script>x</script>")


@pytest.mark.parametrize("as_", CitationFormat)
class TestEveryFormat:
    def test_has_permalink_digest_position_and_evidence(self, as_: CitationFormat) -> None:
        content = cite(cited(standing=("contested", "retracted")), as_).content

        for part in (PERMALINK, DIGEST, "213", "evidence level REPORTED, contested, retracted"):
            assert part in content

    def test_a_run_without_a_result_says_so(self, as_: CitationFormat) -> None:
        content = cite(cited(result=None, status="TIMEOUT"), as_).content

        assert "no primary measurement, status TIMEOUT" in content.replace("No primary", "no primary")

    def test_a_permalink_that_others_can_not_follow_is_warned_of(self, as_: CitationFormat) -> None:
        codes = [warned.code for warned in cite(cited(is_public=False), as_).warnings]

        assert codes == [WarningCode.NOT_PUBLIC]

    def test_a_day_before_the_position_is_warned_of(self, as_: CitationFormat) -> None:
        codes = [warned.code for warned in cite(cited(known_on="2026-11-12"), as_).warnings]

        assert codes == [WarningCode.ACCESSED_BEFORE_POSITION]

    def test_the_same_record_twice_is_one_entry(self, as_: CitationFormat) -> None:
        other = cited(position=7)

        assert bibliography([cited(), other, cited()], as_) == bibliography([cited(), other], as_)
        assert bibliography([cited()], as_).content != bibliography([cited(), other], as_).content


def test_text_loses_nothing() -> None:
    one = cited(authors=(Name(literal="Sun and Moon Labs, Nord"), Name(family="Nuñez", given="Zoë")))

    assert written(one, "TEXT") == (
        f"Sun and Moon Labs, Nord, Zoë Nuñez. {TITLE}. Latency, mean: 353.4 µs (exactly 353370 ns); reported by NVIDIA"
        f" SOL-ExecBench; evidence level REPORTED. KernelIndex record 28c78ea8, {DIGEST}, at log position 213,"
        f" last changed 2026-09-01 (UTC). Published 2026-08-24. {PERMALINK} (accessed 2026-11-11)\n"
    )
