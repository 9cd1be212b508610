"""`hmstats mcp`: questions about statistics for assistants."""

from hmstats.cli.options import Server


def mcp(metastore: Server = None) -> None:
    """Answer an assistant's questions about statistics, by the Model Context Protocol on standard input and output.

    The tools only read: health, tables, table, column, rows, ask, history, diff, pending, runs, blame, plan. The
    metastore is asked as the user of this process (HMSTATS__TOKEN and the other settings of a client).
    """
    from hmstats.cli.actions.page.mcp import serve_assistant

    serve_assistant(metastore)
