"""Problems as lines of text."""

from domain.errors import ErrorCode, Problem


def test_what_a_document_calls_its_fields_does_nothing_to_a_terminal() -> None:
    """Given a field whose name clears the screen and turns what follows it around, when the problem is printed."""
    problem = Problem(
        code=ErrorCode.UNKNOWN_FIELD, message="not known\n", path="\x1b[2J\u202eclean", document="größe.json"
    )
    assert str(problem) == r"größe.json \x1b[2J\u202eclean: not known\n"
