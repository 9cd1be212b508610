"""The description of the API, OpenAPI 3.1, made from the table of operations and the types of their answers."""

from typing import Any

from pydantic import TypeAdapter

from hmstats.version import __version__
from hmstats.web.api.operations import OPERATIONS, PREFIX, Operation
from hmstats.web.api.parameters import Parameter
from hmstats.web.api.problems import MEDIA_TYPE
from hmstats.web.problems import Problem

_REFERENCE = "#/components/schemas/{model}"
_ABOUT = """Statistics of tables, partitions and columns, read from a metastore.

What is unknown is absent. Whole numbers beyond 2^53 and decimals are text. Every answer has a strong ETag."""
_FAILURES = {
    "400": "The question has no meaning.",
    "404": "The table, column or partition is not there.",
    "405": "The operation only reads.",
    "421": "The page is not reached by this name.",
    "502": "The metastore refuses to answer.",
    "503": "The metastore does not answer.",
}


def openapi() -> dict[str, Any]:
    """The description."""
    types = [*(each.answer for each in OPERATIONS), Problem]
    schemas, defined = TypeAdapter.json_schemas(
        [(each, "serialization", TypeAdapter(each)) for each in types], ref_template=_REFERENCE
    )
    answers = {each: schemas[each, "serialization"] for each in types}
    return {
        "openapi": "3.1.0",
        "info": {"title": "hmstats", "version": __version__, "description": _ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": PREFIX}],
        "paths": {each.path: {"get": _operation(each, answers)} for each in OPERATIONS},
        "components": {"schemas": defined["$defs"]},
    }


def _operation(operation: Operation, answers: dict[type[Any], Any]) -> dict[str, Any]:
    problem = {"content": {MEDIA_TYPE: {"schema": answers[Problem]}}}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [_parameter(each) for each in operation.parameters],
        "responses": {
            "200": {
                "description": operation.summary,
                "headers": {"ETag": {"schema": {"type": "string"}, "description": "The version of the answer."}},
                "content": {"application/json": {"schema": answers[operation.answer]}},
            },
            "304": {"description": "The answer with the ETag of If-None-Match is still right."},
            **{status: {"description": text, **problem} for status, text in _FAILURES.items()},
        },
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": parameter.description,
        "schema": parameter.schema(),
    }
