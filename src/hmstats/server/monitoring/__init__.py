"""Health and metrics for operators.

metrics          Prometheus metrics of calls and connections
metrics_folder   where worker processes keep their metrics
health           health and metrics over HTTP
bounded_http     the HTTP server under it
database_probe   whether the database answers
upstream_states  which metastores behind a gateway answer
mounted_page     requests that are for the page, which is mounted beside them
"""
