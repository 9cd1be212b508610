"""The server: sockets, worker threads and the calls of the API.

A request comes in at the top:

processes/             the parent process and its workers
assembly.py            puts a worker together; server.py starts, drains and stops it; chores.py runs from time to time
garbage_collection.py  collects garbage when there are few objects
sockets/               the port, the listening sockets, the wake-up of a selector
connections/           the selector's thread, the connections, the worker threads
layers/                encryption of a connection's bytes
authentication/        the proof of a client's user, before its first call
protocols/             from bytes to messages: plain, framed, HTTP, SASL
messages/              requests, and the encodings of messages
calls/                 from a whole request to its reply
access/                the access rules of calls
cache/                 encoded answers
rpc/                   one thin method for each RPC
monitoring/            metrics and health
limits.py              limits of one process
"""
