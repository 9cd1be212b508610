"""The processes of a server.

supervisor       the parent: starts workers, replaces and ends them
worker_slot      the place of one worker
worker_process   a worker as its parent sees it
fork_server      the process that forks workers, as the parent uses it
forking          what that process runs
page_process     the process of the page that is mounted beside health and metrics
lifeline         what ties a worker to its parent
"""
