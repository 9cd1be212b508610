"""Which calls a gateway answers itself, which ones it may send twice, and which one changes its connection."""

from hmstats.server.calls.call_kinds import READS

ANSWERED_HERE = frozenset(
    {
        # Of the connection between client and gateway: its user, and its end. `shutdown` would end nothing upstream.
        "set_ugi",
        "shutdown",
        "reinitialize",
        # Of the process that the client is connected to.
        "aliveSince",
        "getCounter",
        "getCounters",
        "getCpuProfile",
        "getName",
        "getOption",
        "getOptions",
        "getStatus",
        "getStatusDetails",
        "setOption",
        # A token is good only at the server that has made it.
        "cancel_delegation_token",
        "get_delegation_token",
        "renew_delegation_token",
    }
)
"""All other calls are relayed, those too that this version does not know."""

BINDS = "setMetaConf"
"""The call after which its upstream connection is this client's alone: it changes settings of the connection."""

SENT_TWICE = READS - {"get_lock_materialization_rebuild"}
"""Calls that are sent again if a connection from the pool was closed before any byte of its answer."""
