"""The work of each command, after its arguments are read. A file has the name of its command.

serve, adopt, leave, doctor, config   a server and its database
upstreams/                            several upstreams of a gateway
page/                                 the page, and answers for assistants
access/                               who may call a server, and do what
history/                              earlier statistics
connecting                            the connection of a command to its metastore
spark_arguments                       arguments of commands that run Spark, read before Spark is loaded
analysis, checking                    commands that run Spark
catalog_analysis                      tables of other catalogs, without Spark
list_, show, ask, compare             stored statistics
health/                               health of statistics
feedback/                             statistics to blame for wrong estimates of queries
compare_sources                       the two sides of compare
locks/                                locks on statistics
keeping/                              preferences, and pending statistics
sending/                              statistics sent to others
export, import_, delete               statistics written to a file, read from one, deleted
"""
