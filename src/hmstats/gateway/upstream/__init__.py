"""The way to the upstream and back.

notification_log  what the upstream's log proves
known_upstream    the upstream whose statistics are here
upstream_calls    calls of the gateway's own
generation        what a release of Hive takes
relay             which connection a call gets, what is retried, what is said when nothing answers
sent_call         a small read that is sent without a thread
calls             the calls that are answered here, and those that may be retried
rounds            equal questions that wait are asked once
pool              connections that wait for the next call, by upstream and user
upstreams         the upstream's addresses, and which of them do not answer at the moment
probing           finds out which addresses answer
connecting        opens connections, in Kerberos too
log_line          asks for the log's last number, without a thread that waits
connection        one connection to the upstream: a request goes as it came, and so does its answer
metrics           what is counted
calling           a call of the gateway's own as a message
arriving          an answer that arrives: its end is found while it is passed on
sasl_socket       frames of SASL, for an upstream that wants proof
"""
