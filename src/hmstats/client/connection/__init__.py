"""Connections to a metastore: addresses, transports, and the user's proof of identity.

batches      messages of a bearable size
connection   one connection, made again when it broke
address      the addresses of a metastore
credentials  what proves the user, from the environment or handed over by another program
http_transport, sasl_transport     calls over HTTP, and behind a proof by one of the next
scanned_answers  answers taken whole, and checked, before they are decoded
thrift_client    calls, whose long lists of names are decoded once while they stay as they are
kerberos_ticket, delegation_token  mechanisms of SASL
renewed_token  a delegation token for other processes, renewed while they work
"""
