"""Connections to the upstream, and the calls that go over them.

notification_log  the upstream's notification log, and what it proves to be unchanged
known_upstream    checks that the upstream is the one whose statistics are stored here
upstream_calls    the gateway's own calls
generation        the statistics that a release of Hive accepts
relay             relays calls: chooses connections, repeats reads, reports an upstream that does not answer
sent_call         a small read that is under way without a thread
calls             the calls that are answered here, and those that may be retried
rounds            asks equal questions that wait at the same time once
pool              connections that wait for the next call, by upstream and user
upstreams         the upstream's addresses, and which of them do not answer at the moment
probing           finds out which addresses answer
connecting        opens connections, also with Kerberos
log_line          asks for the log's last number without blocking a thread
connection        one connection to the upstream, which passes requests and answers on as bytes
metrics           the metrics
calling           messages of the gateway's own calls
arriving          receives an answer: finds its end while passing it on
sasl_socket       a socket with SASL frames, for an upstream that authenticates its clients
"""
