"""What each command does once its arguments are read. A file has the name of its command.

serve, adopt, leave, doctor, config   a server and its database
upstreams/                            several upstreams of a gateway
page/                                 the page, and answers for assistants
access/                               who may call a server, and do what
history/                              earlier statistics
connecting                            the connection of a command to its metastore
spark_arguments                       arguments of Spark's jobs, read before Spark is loaded
analysis, checking                    Spark's jobs
catalog_analysis                      tables of other catalogs, without Spark
list_, show, ask, compare             stored statistics
health/                               health of statistics
feedback/                             what queries teach
compare_sources                       what compare puts side by side
locks/                                locks on statistics
keeping/                              how statistics are made and kept
sending/                              statistics sent to others
export, import_, delete               statistics on their way
"""
