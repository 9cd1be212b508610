"""The server: sockets, worker threads and the calls of the API.

A request comes in at the top:

processes/       the parent process and its workers
assembly.py      puts a worker together; server.py starts, drains and stops it; chores.py runs from time to time
collection.py    collects garbage when there are few objects
sockets/         the port, the listening sockets, what wakes a selector
connections/     the selector's thread, the connections, the worker threads
layers/          what encrypts the bytes of a connection
authentication/  who a client is, proven before its first call
protocols/       how bytes become messages: plain or HTTP
messages/        the envelope, the encodings, what a request may cost
calls/           from a whole request to its reply
access/          what clients may do
cache/           encoded answers
rpc/             one thin method for each RPC
monitoring/      metrics and health
limits.py        what one process grants its clients
"""
