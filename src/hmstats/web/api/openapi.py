"""The description of the API, OpenAPI 3.1, made from the table of operations and the types of their answers."""

from typing import Any

from pydantic import TypeAdapter

from hmstats.version import __version__
from hmstats.web.api.changes import CHANGES, Change
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
    "405": "The path does not take the method.",
    "401": "The metastore takes no caller without a proof.",
    "403": "The caller may not do this, or the page only reads.",
    "421": "The page is not reached by this name.",
    "501": "The metastore is not hmstats, which alone has this.",
    "502": "The metastore refuses to answer.",
    "503": "The metastore does not answer.",
}
_CHANGE_FAILURES = {
    "412": "What the change is about has changed meanwhile.",
    "428": "The change names no version.",
}
_ETAG = '^"[0-9a-f]{32}"$'


def openapi() -> dict[str, Any]:
    """The description."""
    types = [*dict.fromkeys(each.answer for each in (*OPERATIONS, *CHANGES)), Problem]
    bodies = [*dict.fromkeys(each.body for each in CHANGES if each.body is not None)]
    schemas, defined = TypeAdapter.json_schemas(
        [
            *((each, "serialization", TypeAdapter(each)) for each in types),
            *((each, "validation", TypeAdapter(each)) for each in bodies),
        ],
        ref_template=_REFERENCE,
    )
    answers = {each: schemas[each, "serialization"] for each in types}
    paths: dict[str, dict[str, Any]] = {each.path: {"get": _operation(each, answers)} for each in OPERATIONS}
    for each in CHANGES:
        paths[each.path][each.method] = _change(
            each, answers, None if each.body is None else schemas[each.body, "validation"]
        )
    return {
        "openapi": "3.1.0",
        "info": {"title": "hmstats", "version": __version__, "description": _ABOUT, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": PREFIX}],
        "paths": paths,
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


def _change(change: Change, answers: dict[type[Any], Any], body: Any) -> dict[str, Any]:
    problem = {"content": {MEDIA_TYPE: {"schema": answers[Problem]}}}
    if_match = {
        "name": "If-Match",
        "in": "header",
        "required": True,
        "description": f"The ETag of GET {change.of.path}, without other parameters.",
        "schema": {"type": "string", "pattern": _ETAG},
    }
    found: dict[str, Any] = {
        "operationId": change.name,
        "summary": change.summary,
        "parameters": [*(_parameter(each) for each in change.parameters), if_match],
        "responses": {
            "200": {
                "description": change.summary,
                "content": {"application/json": {"schema": answers[change.answer]}},
            },
            **{status: {"description": text, **problem} for status, text in (_FAILURES | _CHANGE_FAILURES).items()},
        },
    }
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return found


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required or parameter.place == "path",
        "description": parameter.description,
        "schema": parameter.schema(),
    }
