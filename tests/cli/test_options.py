"""An option has one help text, one type and one form on all commands; every command that tells something has --json."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from hmstats.cli.main import app

SERVES = {"serve", "web", "mcp"}
"""They tell nothing but where they listen, their log, and answers in a protocol of their own."""
OF_ONE_COMMAND = {"--from", "--to", "--all", "--upstream", "--partitions", "--table"}
"""`import` is from a metastore, `move` to one, `diff` of times; `restore` and `compare` say what all is."""


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """All commands below this one, with their full names; groups are left out."""
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for each in command.list_commands(None):
        yield from commands(f"{name} {each}".strip(), command.get_command(None, each))


ALL = dict(commands("", get_command(app)))


def test_an_option_means_one_thing_everywhere() -> None:
    found: dict[str, dict[tuple[object, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, command in ALL.items():
        for option in command.params:
            if option.opts[0].startswith("-"):
                meaning = (
                    option.help,
                    str(option.type_descriptor.annotation),
                    option.metavar,
                    option.multiple,
                )
                for spelling in option.opts:
                    found[spelling][meaning].append(name)
    assert {"--metastore", "--partition", "--where", "--columns", "--database", "--json"} <= set(found)
    different = {
        spelling: dict(meanings)
        for spelling, meanings in found.items()
        if len(meanings) > 1 and spelling not in OF_ONE_COMMAND
    }
    assert not different


@pytest.mark.parametrize("name", sorted(ALL.keys() - SERVES))
def test_a_command_that_tells_something_tells_it_as_json(name: str) -> None:
    assert any("--json" in option.opts for option in ALL[name].params)
