"""The database: Hive's tables and ours, through SQLAlchemy Core. Rows are always read and written as sets.

opening.py      how a server opens its database
migration/      the schema's revision and its upgrade
database/       the store: `read`, a consistent snapshot, and `write`, a transaction
catalog/        tables of catalogs, databases, tables, functions and constraints
partitions/     tables of partitions
statistics/     tables of column statistics and their details
transactions/   tables of transactions and locks
access/         tables of privileges, roles and tokens
storage/        tables of storage descriptors and parameters
changes/        versions of tables, and the notification log
mirrors/        tables whose catalog is another metastore's
history/        what statistics were before each write
health/         health of statistics
statements/     builds, batches and reads statements
unit/           a unit of work: the state of a writer during one transaction
connections/    connection pools, and the classification of their errors
beside_hive/    databases that lack tables or columns of ours
schema/         the definitions of all tables

Each package imports only those below it.
"""
