"""What operators see.

metrics   what Prometheus is told
health    health and metrics over HTTP
bounded_http   the HTTP server under it
"""
