"""The client's side of the metastore's API: connect, ask, and push statistics in batches.

It talks to our server and to real Hive Metastores from 2.3 on. In the order in which a call leaves:

naming.py            table names as people type them
asked/               a table to ask: counts, quantiles, frequent values
tables/              what a metastore knows of a table as a whole: DESCRIBE, stored and merged statistics
sending/             statistics on their way to a metastore: parcels, the spool folder, copies
metastore.py         Hive's calls
altered_parameters.py  changes of parameters by an alter
questions.py         hmstats' own calls: questions to sketches
history.py           hmstats' own calls: earlier statistics, and how they come back
statistics_locks.py  hmstats' own calls: locks on statistics
preferences.py       hmstats' own calls: how statistics are made and kept
iceberg_commits.py   commits to Iceberg tables, under the metastore's lock and on a condition
health.py            hmstats' own calls: health of statistics
blame.py             hmstats' own calls: who is to blame for wrong estimates of queries
runs.py              hmstats' own calls: runs that refresh statistics
recent_runs.py       all recent runs, page by page
refusals.py          tables that no analysis reads
refresh_plan.py      the plan of a round of refreshing, from health, runs, locks and preferences
access.py            hmstats' own calls: what a user may do
pending.py           hmstats' own calls: pending statistics
events.py            the log of changes
running_writes.py    hmstats' own calls: jobs that gather statistics while they write
connection/          addresses, one connection, batches
"""

from hmstats.client.metastore import Metastore, connect

__all__ = ["Metastore", "connect"]
