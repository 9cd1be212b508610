"""What the parent has its fork server do: the first of a forked process's arguments, and what follows it."""

PREPARE = "prepare"
"""Check settings and database; the file descriptor gets the parent's plan."""
WORKER = "worker"
"""Serve clients: whether with exclusive use of the database, and the worker's number."""
