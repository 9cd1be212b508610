"""The parent's orders to its fork server, and the signals that end the parent.

An order is the first of a forked process's arguments.
"""

import signal

PREPARE = "prepare"
"""Check settings and database; the file descriptor gets the parent's plan."""
WORKER = "worker"
"""Serve clients: whether with exclusive use of the database, and the worker's number."""
ENDING = (signal.SIGTERM, signal.SIGINT)
"""The signals that tell the parent to end."""
