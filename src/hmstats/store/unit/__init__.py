"""A unit of work: the state of a writer during one transaction.

unit            connection, queued statements, events for the log
ids             ids from SEQUENCE_TABLE
version_guard   the condition that a table's version is as expected
prepared        statements that PostgreSQL prepares once
"""
