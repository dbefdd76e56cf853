"""``kernelindex query`` and ``kernelindex schema``."""

import json
from pathlib import Path

from service.sample import FILES
from tests.service.cli.conftest import Command

RUN = "sha256:28c78ea8f808d1b78085d073f400abf64930109cb0ad61efd3634542aaa78a58"


def test_a_query_is_answered_from_the_data_folder(cli: Command) -> None:
    cli("import", FILES[1])
    answered = cli("query", "query($id: ID!) { run(id: $id) { digest } }", "--variables", '{"id": "28c78ea8"}')
    assert answered.status == 0
    response = json.loads(answered.out)
    assert response["data"] == {"run": {"digest": RUN}}
    assert response["extensions"]["stamp"]["position"] > 1
    assert answered.out.count("\n") > 3


def test_json_is_the_response_on_one_line(cli: Command) -> None:
    cli("import", FILES[1])
    answered = cli("query", "{ runs { totalCount } }", "--json")
    assert answered.out.count("\n") == 1
    assert json.loads(answered.out)["data"] == {"runs": {"totalCount": 1}}


def test_of_several_operations_one_is_named(cli: Command) -> None:
    cli("import", FILES[1])
    text = "query A { runs { totalCount } } query B { operations { totalCount } }"
    answered = cli("query", text, "--operation", "B")
    assert json.loads(answered.out)["data"] == {"operations": {"totalCount": 1}}


def test_a_query_with_errors_is_status_1_with_the_response_all_the_same(cli: Command) -> None:
    cli("import", FILES[1])
    answered = cli("query", "{ nothing }")
    assert answered.status == 1
    assert json.loads(answered.out)["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def test_variables_that_are_no_object_are_refused(cli: Command) -> None:
    for variables in ("[1]", "{broken"):
        refused = cli("query", "{ runs { totalCount } }", "--variables", variables)
        assert refused.status == 1
        assert refused.err.startswith("error: --variables: ")


def test_a_question_makes_no_index(cli: Command, data: Path) -> None:
    asked = cli("query", "{ runs { totalCount } }")
    assert asked.status == 1
    assert "import something first" in asked.err
    assert not data.exists()


def test_the_schema_is_printed_in_its_definition_language(cli: Command, data: Path) -> None:
    printed = cli("schema")
    assert printed.status == 0
    assert "type Query implements Reads" in printed.out
    assert not data.exists()


def test_an_empty_query_is_refused_in_a_line(cli: Command) -> None:
    cli("import", FILES[1])
    answered = cli("query", " ")
    assert answered.status == 1
    assert "the query is empty" in answered.err
    assert "Traceback" not in answered.err
