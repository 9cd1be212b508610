"""The processes of `hmstats serve`, in the order in which they start.

serve_settings, hive_site   the settings in force, and those of a Hive's own file
roots                       where a server may make, move and remove directories
security                    certificate, authentication, access
rules                       the settings of the rules
upstream                    the metastore that a gateway relays calls to
places                      several of them beside hmstats' own tables
parent                      starts the fork server, and becomes what supervises the workers
supervision                 starts the workers and replaces them
fork_server, orders         the process that forks them, and what it is told
preparation, plan           checks settings and database, and what the parent learns by that
cores                       how many cores a server may use
page                        the page beside health and metrics, in a process of its own
worker                      one process that serves clients
logs                        one JSON object a line on standard error
"""
