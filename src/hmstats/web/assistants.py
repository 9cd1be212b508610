"""Questions about statistics as tools of the Model Context Protocol, so that assistants ask them instead of scanning.

All of them only read. They answer what the API answers, and ask the metastore as the user who runs them.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field, TypeAdapter

from hmstats.client import Metastore
from hmstats.errors import HmstatsError
from hmstats.version import __version__
from hmstats.web.metastores import Metastores
from hmstats.web.reading.columns.asked import ask_bounds, ask_distinct, ask_frequent, ask_quantiles, ask_rows
from hmstats.web.reading.columns.column_page import column_page
from hmstats.web.reading.feedback import feedback
from hmstats.web.reading.lists.health_list import health_list
from hmstats.web.reading.lists.run_list import run_list
from hmstats.web.reading.lists.table_list import table_list
from hmstats.web.reading.past.change import table_difference
from hmstats.web.reading.past.versions import table_versions
from hmstats.web.reading.pending import every_pending
from hmstats.web.reading.plan import refresh_plan
from hmstats.web.reading.selections import Selection
from hmstats.web.reading.table_facts import table_facts

_ABOUT = """Statistics of tables in a Hive metastore: rows, sizes, nulls, distinct values, bounds, quantiles, frequent
values, their age, health and history. They are stored, so every answer is quick and scans no data. Each number says how
sure it is; what is absent is unknown."""
_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_MOST = 100

Table = Annotated[str, Field(description="The table, as DB.TABLE or CATALOG.DB.TABLE.")]
Time = Annotated[str | None, Field(description="A time: ISO 8601 with a zone, or so long ago, as '2h ago'.")]
Where = Annotated[str | None, Field(description="A filter over the partition keys, as ds >= '2024-05-01'.")]
Fractions = Annotated[tuple[float, ...], Field(max_length=_MOST, description="Fractions from 0 to 1.")]
Limit = Annotated[int, Field(ge=1, le=_MOST)]
Answer = dict[str, Any]


def assistant_server(metastores: Metastores) -> MCPServer[Any]:
    """The server of the tools, which asks over these connections."""
    server: MCPServer[Any] = MCPServer("hmstats", instructions=_ABOUT, version=__version__)
    of = _Tools(metastores)
    every = (of.health, of.tables, of.table, of.column, of.rows, of.ask, of.history, of.diff, of.pending, of.runs)
    for tool in (*every, of.blame, of.plan):
        server.tool(annotations=_READS)(tool)
    return server


class _Tools:
    """The tools by their names. Their docstrings and the descriptions of their arguments are what assistants read."""

    def __init__(self, metastores: Metastores) -> None:
        self._metastores = metastores

    def _query(self, question: Callable[[Metastore], Any]) -> Answer:
        try:
            with self._metastores.connection() as service:
                found = question(service)
        except HmstatsError as error:
            raise ToolError(str(error)) from error  # the text of any other error stays here
        plain: Answer = TypeAdapter(type(found)).dump_python(found, mode="json", exclude_none=True)
        return plain

    def health(
        self, database: str | None = None, below: Annotated[int | None, Field(ge=1, le=100)] = None, limit: Limit = 25
    ) -> Answer:
        """Tables by the health of their statistics (0 to 100), the worst first: why, and the command that helps."""
        return self._query(lambda service: health_list(service, database, below=below, limit=limit))

    def tables(self, search: str = "", limit: Limit = 25) -> Answer:
        """Tables and views whose names contain a text (DB.TABLE or a part of it), with rows and sizes."""
        return self._query(lambda service: table_list(service, search=search, limit=limit))

    def table(self, table: Table, as_of: Time = None, where: Where = None, limit: Limit = 50) -> Answer:
        """A table, or some of its partitions together, with the statistics of its columns; now or as of a time."""
        wanted = Selection(where=where, as_of=as_of)
        return self._query(lambda service: table_facts(service, table, wanted, limit=limit))

    def column(self, table: Table, column: str, as_of: Time = None, where: Where = None) -> Answer:
        """One column: nulls, distinct values with bounds, least, greatest, quartiles, histogram, frequent values."""
        wanted = Selection(where=where, as_of=as_of)
        return self._query(lambda service: column_page(service, table, column, wanted))

    def history(self, table: Table, column: str | None = None, limit: Limit = 25) -> Answer:
        """The writes of a table's statistics, newest first: when, who, by which call, of which columns."""
        return self._query(lambda service: table_versions(service, table, column, limit=limit))

    def diff(self, table: Table, begin: Time = None, end: Time = None) -> Answer:
        """What changed in a table's statistics between two times; by default, what the last write changed."""
        return self._query(lambda service: table_difference(service, table, begin, end))

    def rows(self, table: Table, where: Where = None) -> Answer:
        """How many rows a table has, or those of its partitions that match; and whether that is exact."""
        return self._query(lambda service: ask_rows(service, table, where))

    def ask(
        self,
        table: Table,
        column: str,
        question: Literal["distinct", "bounds", "quantiles", "frequent"],
        fractions: Fractions = (0.25, 0.5, 0.75),
        limit: Limit = 10,
        where: Where = None,
    ) -> Answer:
        """Distinct values, bounds, quantiles at any fractions, or frequent values of a column, each with its error."""
        asked: dict[str, Callable[[Metastore], Any]] = {
            "distinct": lambda service: ask_distinct(service, table, column, where),
            "bounds": lambda service: ask_bounds(service, table, column, where),
            "quantiles": lambda service: ask_quantiles(service, table, column, fractions, where),
            "frequent": lambda service: ask_frequent(service, table, column, limit, where),
        }
        return self._query(asked[question])

    def pending(self, limit: Limit = 25) -> Answer:
        """Pending statistics, not in force until published: of which tables and partitions, since when, and why."""
        return self._query(lambda service: every_pending(service, limit=limit))

    def runs(self, table: Table | None = None, limit: Limit = 25) -> Answer:
        """Runs that refreshed statistics, newest first: how each ended and why; and tables whose runs fail."""
        return self._query(lambda service: run_list(service, table, limit=limit))

    def blame(self, table: Table | None = None, since: Time = None, limit: Limit = 25) -> Answer:
        """Tables and columns whose statistics made estimates of queries wrong, the worst first, and what mends them."""
        return self._query(lambda service: feedback(service, table, since=since, limit=limit))

    def plan(
        self,
        tables: Annotated[str | None, Field(description="Only these: DB or DB.TABLE; * stands for anything.")] = None,
        budget: Annotated[str | None, Field(description="The time for the round, as 30m.")] = None,
        limit: Limit = 25,
    ) -> Answer:
        """What a refresh would analyse, the largest gain a second first, why, how long it takes, and the command."""
        return self._query(lambda service: refresh_plan(service, tables, budget=budget, limit=limit))
