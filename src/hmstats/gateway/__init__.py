"""The gateway: has another metastore, the upstream, answer the calls that this server does not answer itself.

The server knows it only by the seam of its dispatcher (server/calls/relaying.py). In the order in which a call goes:

gateway.py                  which calls are answered here, and which by the upstream
questions.py                the calls about statistics, and about which
mirroring.py                has statistics here, as new as the upstream's, before they are answered
objects_with_statistics.py  tables and partitions that are asked for with their statistics
adopting.py                 all old statistics are taken over, before anybody asks
followed_calls.py           the calls that change tables
following.py                what becomes of mirrors when such a call passes
sending.py                  statistics that were written here go to the upstream
upstream_calls.py           calls of the gateway's own
generation.py               what a release of Hive takes
relay.py                    which connection a call gets, what is retried, what is said when nothing answers
calls.py                    the calls that are answered here, and those that may be retried
pool.py                     connections that wait for the next call, by upstream and user
upstreams.py                the upstream's addresses, and which of them do not answer at the moment
connection.py               one connection to the upstream: a request goes as it came, and so does its answer
metrics.py                  what is counted
arriving.py                 an answer that arrives: its end is found while it is passed on
"""
