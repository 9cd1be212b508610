"""The gateway: passes calls that this server does not answer itself to another metastore, the upstream.

The server knows the gateway only by the interface in server/calls/relaying.py. In the order in which a call goes:

moving       moves a database from one of several upstreams to hmstats' own tables, or back
places       several upstreams: which of them answers a call
gateway.py   which calls are answered here, and which by the upstream
answering    calls that are answered from statistics here
catalog      the upstream's answers about tables, which are kept
statistics   statistics of the upstream's tables, which are kept here
changes      relayed calls that change tables, and their effect on the statistics kept here
upstream     connections to the upstream, and the gateway's own calls over them
"""
