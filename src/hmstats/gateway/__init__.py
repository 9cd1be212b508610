"""The gateway: has another metastore, the upstream, answer the calls that this server does not answer itself.

The server knows it only by the seam of its dispatcher (server/calls/relaying.py). In the order in which a call goes:

relay.py          which calls are relayed; the connection of each, what is retried, what is said when nothing answers
calls.py          the calls that are answered here, and those that may be retried
pool.py           connections that wait for the next call, by upstream and user
upstreams.py      the upstream's addresses, and which of them do not answer at the moment
connection.py     one connection to the upstream: a request goes as it came, and so does its answer
metrics.py        what is counted
arriving.py       an answer that arrives: its end is found while it is passed on
"""
