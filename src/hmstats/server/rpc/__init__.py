"""One thin method for each RPC, under the RPC's own name: struct in, rules, struct out. A file for each subject.

catalog/        catalogs, databases, tables, constraints, functions, connectors, types
partitions/     partitions: found, changed, marked
statistics/     column statistics, and hmstats' own calls
transactions/   transactions, write ids, locks
access/         roles, privileges, delegation tokens
metastore/      sessions, settings, notifications, and which metastore this is
subject.py      what a call is about; contexts.py reads its environment context
caller.py       what is known about a client during its connection
"""
