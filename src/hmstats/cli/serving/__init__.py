"""The processes of `hmstats serve`, in the order in which they start.

serve_settings, hive_site   the settings in force, and those of a Hive's own file
roots                       where a server may make, move and remove directories
security                    certificate, authentication, access
rules                       the settings of the rules
upstream                    the metastore that a gateway relays calls to
places                      several upstreams beside hmstats' own tables
parent                      starts the fork server, then supervises the workers
supervision                 starts the workers and replaces them
fork_server, orders         the process that forks workers, and the parent's orders to it
preparation, plan           checks settings and database, and tells the parent its settings
cores                       how many cores a server may use
page                        the page beside health and metrics, in a process of its own
worker                      one process that serves clients
logs                        one JSON object a line on standard error
"""
