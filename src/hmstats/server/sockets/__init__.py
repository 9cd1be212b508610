"""Sockets, and what wakes the thread that watches them.

port         the port, and the listening sockets of the workers
listener     accepts connections
neighbours   hands connections to a worker that has fewer
wakeup       wakes a selector from another thread
busy_poll    looks for the next event for a moment before sleeping
"""
