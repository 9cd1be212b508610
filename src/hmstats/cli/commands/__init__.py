"""What each command is called, takes and says of itself; what it does is imported when it runs.

Nothing here imports more than typer: `--help` and the completion of a shell read all of these modules.

servers/                               serve, web and mcp, which run until they are stopped
migrate, beside_hive                   the database of a server, and that of a Hive: adopt and leave
move                                   databases between the upstreams of a gateway
doctor, ping, config, version          an installation, a metastore, the settings in force
access/                                who may reach a server, and do what there
analyze, check                         Spark's jobs
list_, show, ask, describe, compare    stored statistics
health/                                stale statistics, and how they are refreshed
feedback/                              what queries teach
history/                               earlier statistics
locks/                                 locks on statistics
keeping/                               how statistics are made and kept
sending/                               statistics sent to others
export, import_, delete                statistics on their way
"""
