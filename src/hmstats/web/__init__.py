"""The page: tables and their statistics in a browser and as JSON, read from a metastore's Thrift port.

It shows hmstats with everything and a Hive Metastore with what that has. In the order in which a request comes in:

process.py              the process of `hmstats web`, and of the page beside a server's health and metrics
handed_connections.py   connections that the server has accepted there
renewed_certificate.py  the certificate, read again when its files change
slow_clients.py         connections of clients that stand still are closed
assistants.py           tools for assistants (Model Context Protocol)
notebook.py             a table as pictures in a notebook
application.py          all routes behind all guards
guards/                 checks of every request, headers of every answer: names of the host, origins, ETag
problems.py             errors as HTTP statuses and sentences
api/                    JSON under /api/v1, and its description
pages/                  HTML, with pictures
pictures/               SVG
reading/                reads answers from the metastore
metrics.py              health of tables for Prometheus
health_proxy.py         health and metrics of the server that the page is mounted beside
engine_events.py        events of finished queries, which Trino posts
admission.py            the entry of every request: its user, its connection, its right to change something
callers.py              the proof of a request's user, and the tokens of forms
metastores.py           connections that threads share
answers/                answers of the API, which pages show too
"""
