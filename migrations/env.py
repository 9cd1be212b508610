"""Alembic's entry: runs the migrations over the connection, or for the dialect, that migrate.py names."""

from alembic import context

from hmstats.store.migration.schema_revision import VERSION_TABLE
from hmstats.store.schema import METADATA


def run() -> None:
    connection = context.config.attributes["connection"]
    if connection is None:
        dialect = context.config.attributes["dialect"]
        context.configure(
            dialect_name=dialect, literal_binds=True, target_metadata=METADATA, version_table=VERSION_TABLE
        )
    else:
        context.configure(connection=connection, target_metadata=METADATA, version_table=VERSION_TABLE)
    with context.begin_transaction():
        context.run_migrations()


run()
