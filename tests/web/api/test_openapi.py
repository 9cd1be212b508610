"""The description of the API is true: schemathesis asks what it allows and what it forbids, and checks each answer."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok
from tests.web.fixture import Shown, metastore_port, shown

from hmstats.web.api.changes import CHANGES
from hmstats.web.api.operations import OPERATIONS

__all__ = ["metastore_port", "shown"]
_THERE = {"table": ["shop.visits", "shop.by_day", "shop.marked"], "column": ["age", "ds", "app"]}
_CONFIG: dict[str, Any] = {
    "checks": {"positive_data_acceptance": {"expected-statuses": ["2xx", "400", "403", "404", "412"]}}
}
"""A JSON schema cannot tell a filter over partition keys, a time or a cursor from another text: they are answered 400.
Nor can it tell the version that a table has now: 412."""
_QUESTIONS = [
    *((each.name, GenerationMode.POSITIVE) for each in OPERATIONS),
    *((each.name, GenerationMode.NEGATIVE) for each in OPERATIONS if each.parameters),
    *((each.name, mode) for each in CHANGES for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)),
]
"""Operations, and whether they are asked as they may be; nothing can be wrong with one without parameters."""
_few = settings(max_examples=6, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), _QUESTIONS)
def test_an_operation_answers_as_described(shown: Shown, name: str, mode: GenerationMode) -> None:
    """With any names, then with names of what is there, where most answers are good."""
    config = SchemathesisConfig.from_dict(_CONFIG)
    api = schemathesis.openapi.from_asgi("/api/v1/openapi.json", shown.page.app, config=config)
    every = (each.ok() for each in api.get_all_operations() if isinstance(each, Ok))
    operation = next(each for each in every if each.definition.raw["operationId"] == name)

    @given(case=operation.as_strategy(generation_mode=mode))
    @_few
    def answered(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate()
        if mode is GenerationMode.POSITIVE and case.path_parameters:
            for place, values in _THERE.items():
                if place in case.path_parameters:
                    text = str(case.path_parameters[place])
                    case.path_parameters[place] = values[len(text) % len(values)]
            case.call_and_validate()

    answered()


def test_every_route_of_the_api_is_described(shown: Shown) -> None:
    described = shown.page.get("/api/v1/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    routes = {str(getattr(each, "path", "")).replace(":path}", "}") for each in shown.page.app.routes}  # type: ignore[attr-defined]
    served = {each.removeprefix("/api/v1") for each in routes if each.startswith("/api/v1/")}
    assert served == {*described["paths"], "/openapi.json"}
