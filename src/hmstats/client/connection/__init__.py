"""How a call reaches a metastore.

batches      messages of a bearable size
connection   one connection, made again when it broke
address      the addresses of a metastore
credentials  what proves the user, from the environment
http_transport, kerberos_transport  calls over HTTP, and behind a proof by a ticket
"""
