"""How a call reaches a metastore.

batches      messages of a bearable size
connection   one connection, made again when it broke
address      the addresses of a metastore
"""
