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


def test_tools_answer_what_the_api_answers(shown: Shown, metastore_port: int) -> None:
    tools, answers = asked(
        metastore_port,
        ("health", {}),
        ("tables", {"search": "by_"}),
        ("table", {"table": "shop.visits"}),
        ("column", {"table": "shop.by_day", "column": "age", "where": "ds <= '2024-01-30'"}),
        ("history", {"table": "shop.visits"}),
        ("diff", {"table": "shop.visits"}),
        ("table", {"table": "shop.none"}),
    )
    assert {each.name for each in tools} == {"health", "tables", "table", "column", "history", "diff"}
    assert all(each.annotations.read_only_hint for each in tools)
    health, tables, table, column, history, diff, none = answers
    assert health.structured_content == shown.json("/health", limit=25)
    assert [each["table"] for each in tables.structured_content["tables"]] == ["shop.by_day"]
    assert table.structured_content == shown.json("/tables/shop.visits")
    assert column.structured_content["column"]["nulls"]["value"] == 200
    assert history.structured_content == shown.json("/tables/shop.visits/history")
    assert diff.structured_content["table"] == "shop.visits"
    assert none.is_error
    assert "table shop.none is not in the metastore" in none.content[0].text
