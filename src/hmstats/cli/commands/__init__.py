"""Names, options and help texts of the commands; the module that does the work is imported when the command runs.

Nothing here imports more than typer: `--help` and the completion of a shell read all of these modules.

servers/                               serve, web and mcp, which run until they are stopped
migrate, beside_hive                   the database of a server, and that of a Hive: adopt and leave
move                                   databases between the upstreams of a gateway
doctor, ping, config, version          an installation, a metastore, the settings in force
access/                                who may reach a server, and do what there
analyze, check                         commands that run Spark
list_, show, ask, describe, compare    stored statistics
health/                                stale statistics, and how they are refreshed
feedback/                              statistics to blame for wrong estimates of queries
history/                               earlier statistics
locks/                                 locks on statistics
keeping/                               preferences, and pending statistics
sending/                               statistics sent to others
export, import_, delete                statistics written to a file, read from one, deleted
"""
