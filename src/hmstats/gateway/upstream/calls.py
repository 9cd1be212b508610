"""Lists the calls that a gateway answers itself, those that it may repeat, and the one that changes its connection."""

from hmstats.server.calls.call_kinds import READS

ANSWERED_HERE = frozenset(
    {
        # About the connection between client and gateway: its user and its end. `shutdown` would end nothing upstream.
        "set_ugi",
        "shutdown",
        "reinitialize",
        # About the process that the client is connected to.
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
        # A token is valid only at the server that issued it.
        "cancel_delegation_token",
        "get_delegation_token",
        "renew_delegation_token",
    }
)
"""All other calls are relayed, also those that this version does not know."""

BINDS = "setMetaConf"
"""The call that binds its upstream connection to this client, since it changes settings of the connection."""

SENT_TWICE = READS - {"get_lock_materialization_rebuild"}
"""Calls that are sent again if a pooled connection was closed before the first byte of the answer."""
