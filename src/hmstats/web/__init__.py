"""The page: tables and their statistics in a browser and as JSON, read from a metastore's Thrift port.

It shows hmstats with everything and a Hive Metastore with what that has. In the order in which a request comes in:

process.py       the process of `hmstats web`, and of the page beside a server's health and metrics
handed_connections.py  connections that the server has accepted there
renewed_certificate.py  the certificate, read again when its files change
slow_clients.py  connections of clients that stand still are closed
assistants.py    questions of assistants
notebook.py      a table as pictures in a notebook
application.py   all routes behind all guards
guards/          what every request and answer must satisfy: names of the host, headers, ETag
problems.py      errors as HTTP statuses and sentences
api/             JSON under /api/v1, and its description
pages/           HTML, with pictures
pictures/        SVG
reading/         what is asked of the metastore for an answer
metrics.py       health of tables for Prometheus
passed_on.py     health and metrics of the server beside
engine_events.py  events of finished queries, which Trino posts
desk.py          what every request passes
callers.py       who asks, and whose forms come back
metastores.py    connections that threads share
answers/         what a page shows and the API sends
"""
