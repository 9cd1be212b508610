"""The gateway: has another metastore, the upstream, answer the calls that this server does not answer itself.

The server knows it only by the seam of its dispatcher (server/calls/relaying.py). In the order in which a call goes:

moving       a database goes from one of several upstreams to hmstats' own tables
places       several upstreams: which call goes to which
gateway.py   which calls are answered here, and which by the upstream
answering    calls that are answered from statistics here
catalog      answers about tables that are kept
statistics   statistics of the upstream's tables, which are kept here
changes      calls that change tables, and what becomes of their statistics
upstream     connections to the upstream, and calls of the gateway's own
"""
