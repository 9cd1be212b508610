"""The processes of a server.

supervisor       the parent: starts workers, replaces and ends them
worker_slot      the place of one worker
worker_process   a worker as its parent sees it
fork_server      the process that forks workers, as the parent uses it
forking          the loop that runs in the fork server
page_process     the process of the page that is mounted beside health and metrics
lifeline         the socket pair between a worker and its parent
"""
