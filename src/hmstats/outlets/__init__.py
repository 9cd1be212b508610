"""Converts statistics from the model to other forms.

Nothing here calls a server or a database, so that the server, the client and the command line use it alike.

arrow/      Arrow's statistics schema, its IPC streams, and ADBC
describe/   the answers of DESCRIBE
spark/      Spark's table parameters
puffin/     Iceberg's files of sketches
export/     files of all statistics of a metastore
people/     short texts, flat tables and comparisons for people

java_numbers  doubles as Java writes them
"""
