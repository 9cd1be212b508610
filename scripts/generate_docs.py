"""Writes the pages of docs/reference/ that are made from the code: calls, cli, configuration. A test compares them."""

import json
import re
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from hmstats.cli.main import HELP, app
from hmstats.secret_files import PREFIX
from hmstats.server.rpc.access.delegation import DelegationCalls
from hmstats.server.rpc.access.privileges import AccessCalls
from hmstats.server.rpc.access.tokens import TokenCalls
from hmstats.server.rpc.catalog.catalogs import CatalogCalls
from hmstats.server.rpc.catalog.connectors import ConnectorCalls
from hmstats.server.rpc.catalog.constraints import ConstraintCalls
from hmstats.server.rpc.catalog.databases import DatabaseCalls
from hmstats.server.rpc.catalog.functions import FunctionCalls
from hmstats.server.rpc.catalog.named_types import TypeCalls
from hmstats.server.rpc.catalog.table_changes import TableChangeCalls
from hmstats.server.rpc.catalog.table_queries import TableQueryCalls
from hmstats.server.rpc.catalog.tables import TableCalls
from hmstats.server.rpc.metastore.configuration import ConfigurationCalls
from hmstats.server.rpc.metastore.identity import IdentityCalls
from hmstats.server.rpc.metastore.notifications import NotificationCalls
from hmstats.server.rpc.metastore.session import SessionCalls
from hmstats.server.rpc.partitions.partition_changes import PartitionChangeCalls
from hmstats.server.rpc.partitions.partition_marks import PartitionMarkCalls
from hmstats.server.rpc.partitions.partition_queries import PartitionQueryCalls
from hmstats.server.rpc.partitions.partitions import PartitionCalls
from hmstats.server.rpc.statistics.arrow_statistics import ArrowCalls
from hmstats.server.rpc.statistics.extension import ExtensionCalls
from hmstats.server.rpc.statistics.running_writes import RunningWriteCalls
from hmstats.server.rpc.statistics.statistics import StatisticsCalls
from hmstats.server.rpc.transactions.locks import LockCalls
from hmstats.server.rpc.transactions.transactions import TransactionCalls
from hmstats.settings import Settings
from hmstats.wire.idl import methods

DOCS = Path(__file__).resolve().parents[1] / "docs"

_CONFIGURATION = """# Configuration

<!-- Made by `make docs` from src/hmstats/settings/fields.py. -->

Nothing must be set: without any setting `hmstats serve` keeps its data in an SQLite file in the working directory.

A value is looked for in this order:

1. the command's flag, such as `--port 9083`;
2. the environment variable, such as `HMSTATS__PORT=9083`;
3. for `database` and `token`, the file of that variable's name in the folder that `HMSTATS__SECRETS_DIR` names;
4. the TOML file named by `HMSTATS__CONFIG`, or else `hmstats.toml` in the working directory;
5. the default.

`hmstats config show` prints every value and where it came from. A name that is no setting is refused, in the file and
in variables that begin with `HMSTATS__`, with the nearest name that is one. Defaults are written as a TOML file has
them; one that is *unset* has no value there: leave its line out.

| setting | variable | default | meaning |
|---|---|---|---|
"""

_CLI = """# Command line

<!-- Made by `make docs` from src/hmstats/cli/. -->

An error is one sentence on standard error, behind the usage of the command if its arguments are wrong. Log lines go
to standard error, answers to standard output.

| exit code | meaning |
|---|---|
| 0 | done; nothing differs, is wrong or is a problem |
| 1 | the answer is no: `compare`, `diff`, `pending diff` and `move` found a difference, `check` a wrong \
number, `doctor` a problem, `health --below` a table; `check-access` was denied; `serve` had no worker that could \
start |
| 2 | an error: nothing was done, or all of it can be repeated |
| 3 | done in part: `analyze`, `refresh`, `push`, `import`, `restore`, `feed` and `leave --upstream` name what was \
left out, with the reason |
| 130, 143 | ended by Ctrl-C or SIGTERM; `analyze`, `refresh` and `export` say what stays |

`hmstats --install-completion` teaches your shell to complete commands and options.
"""


_CALLS = """# Calls

<!-- Made by `make docs` from src/hmstats/server/rpc/. -->

The calls that the server answers, of the {total} of the API. Any other call gets `Invalid method name: '<name>'`, and
the connection lives.
"""
_SUBJECTS = (
    SessionCalls,
    ConfigurationCalls,
    DelegationCalls,
    TokenCalls,
    IdentityCalls,
    CatalogCalls,
    DatabaseCalls,
    ConnectorCalls,
    TableCalls,
    TableQueryCalls,
    TableChangeCalls,
    ConstraintCalls,
    PartitionCalls,
    PartitionQueryCalls,
    PartitionChangeCalls,
    PartitionMarkCalls,
    StatisticsCalls,
    ExtensionCalls,
    ArrowCalls,
    RunningWriteCalls,
    FunctionCalls,
    TypeCalls,
    AccessCalls,
    NotificationCalls,
    LockCalls,
    TransactionCalls,
)


def calls() -> str:
    """The page on calls: each subject's, with what they do."""
    sections = [_CALLS.format(total=len(methods()))]
    for subject in _SUBJECTS:
        served = {name: call for name, call in vars(subject).items() if name in methods()}
        rows = [f"| `{name}` | {(call.__doc__ or '').splitlines()[0]} |" for name, call in served.items()]
        title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", subject.__name__.removesuffix("Calls")).capitalize()
        sections.append(f"## {title}\n\n| call | answer |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(sections)


def configuration() -> str:
    """The page on settings."""
    rows = (
        f"| `{name}` | `{PREFIX}{name.upper()}` | {_default(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    )
    return _CONFIGURATION + "\n".join(rows) + "\n"


def _default(value: object) -> str:
    """The value as a TOML file has it."""
    if value is None:
        return "unset"
    return f"`{json.dumps(value)}`"


def command_line() -> str:
    """The page on commands: the help text of each."""
    sections = [_CLI, *_sections(get_command(app), "hmstats")]
    return "\n".join(sections)


def _sections(command: Any, path: str) -> list[str]:
    context = typer.Context(
        command, info_name=path, terminal_width=100, max_content_width=100, help_option_names=list(HELP)
    )
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).strip().splitlines())
    own = f"## `{path}`\n\n```text\n{help_text}\n```\n"
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    inner = {name: command.get_command(context, name) for name in names}
    return [own, *(section for name, each in inner.items() for section in _sections(each, f"{path} {name}"))]


def pages() -> dict[Path, str]:
    """Each generated page and its text."""
    return {
        DOCS / "reference" / "calls.md": calls(),
        DOCS / "reference" / "cli.md": command_line(),
        DOCS / "reference" / "configuration.md": configuration(),
    }


def main() -> None:
    """Write every page."""
    for path, text in pages().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
