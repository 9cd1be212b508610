"""Tools for assistants, asked by the protocol's own client over standard input and output."""

import os
from typing import Any

import pytest
from tests.fixtures.servers import HMSTATS
from tests.web.fixture import Shown, metastore_port, shown

mcp = pytest.importorskip("mcp", reason="pip install '.[mcp]'")
anyio = pytest.importorskip("anyio")

__all__ = ["metastore_port", "shown"]


def asked(port: int, *questions: tuple[str, dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """The tools, and the answers to questions, of the command in a process of its own."""
    arguments = ["mcp", "--metastore", f"thrift://127.0.0.1:{port}"]
    process = mcp.StdioServerParameters(command=HMSTATS, args=arguments, env=dict(os.environ))

    async def talk() -> tuple[list[Any], list[Any]]:
        async with mcp.Client(process) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, given) for name, given in questions]

    found: tuple[list[Any], list[Any]] = anyio.run(talk)
    return found


@pytest.mark.slow
def test_tools_answer_what_the_api_answers(shown: Shown, metastore_port: int) -> None:
    tools, answers = asked(
        metastore_port,
        ("health", {}),
        ("tables", {"search": "by_"}),
        ("table", {"table": "shop.visits"}),
        ("column", {"table": "shop.by_day", "column": "age", "where": "ds <= '2024-01-30'"}),
        ("history", {"table": "shop.visits"}),
        ("diff", {"table": "shop.visits"}),
        ("rows", {"table": "shop.by_day"}),
        ("ask", {"table": "shop.visits", "column": "AGE", "question": "bounds"}),
        ("ask", {"table": "shop.visits", "column": "age", "question": "quantiles", "fractions": [0, 0.5]}),
        ("ask", {"table": "shop.visits", "column": "app", "question": "frequent", "limit": 2}),
        ("ask", {"table": "shop.visits", "column": "app", "question": "distinct"}),
        ("ask", {"table": "shop.visits", "column": "none", "question": "distinct"}),
        ("pending", {}),
        ("runs", {}),
        ("blame", {}),
        ("plan", {"tables": "shop.*"}),
        ("table", {"table": "shop.none"}),
    )
    assert [each.name for each in tools] == [
        *("health", "tables", "table", "column", "rows", "ask", "history", "diff", "pending", "runs"),
        *("blame", "plan"),
    ]
    assert all(each.annotations.read_only_hint for each in tools)
    health, tables, table, column, history, diff, rows, bounds, quantiles, frequent, distinct, *others = answers
    unknown, pending, runs, blame, plan, none = others
    assert health.structured_content == shown.json("/health", limit=25)
    assert [each["table"] for each in tables.structured_content["tables"]] == ["shop.by_day"]
    assert table.structured_content == shown.json("/tables/shop.visits")
    assert column.structured_content["column"]["nulls"]["value"] == 200
    assert history.structured_content == shown.json("/tables/shop.visits/history")
    assert diff.structured_content["table"] == "shop.visits"
    assert (rows.structured_content["count"], rows.structured_content["table"]) == (4_500, "shop.by_day")
    of_age = shown.json("/tables/shop.visits/columns/age")["column"]
    assert bounds.structured_content["column"] == "age"
    assert bounds.structured_content["low"] == of_age["least"]["value"]
    assert bounds.structured_content["high"] == of_age["greatest"]["value"]
    assert [each["fraction"] for each in quantiles.structured_content["quantiles"]] == [0, 0.5]
    assert quantiles.structured_content["quantiles"][0]["value"] == of_age["least"]["value"]
    assert len(frequent.structured_content["frequent"]) == 2
    of_app = shown.json("/tables/shop.visits/columns/app")["column"]
    assert distinct.structured_content["count"] == of_app["distinct"]["value"]
    assert unknown.is_error
    assert "none" in unknown.content[0].text
    assert pending.structured_content == {"lines": [], "waiting": 0}
    assert runs.structured_content == {"runs": [], "failing": []}
    assert blame.structured_content == shown.json("/feedback", limit=25)
    planned = shown.json("/plan", tables="shop.*", limit=25)
    assert [each["table"] for each in plan.structured_content["work"]] == [each["table"] for each in planned["work"]]
    assert planned["work"]
    assert none.is_error
    assert "table shop.none is not in the metastore" in none.content[0].text
