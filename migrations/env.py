"""Alembic's entry: runs the migrations over the connection, or for the URL, that hmstats.store.migrate hands over."""

from alembic import context

from hmstats.store.schema import METADATA

VERSION_TABLE = "HMSTATS_ALEMBIC_VERSION"


def run() -> None:
    connection = context.config.attributes.get("connection")
    options = {"target_metadata": METADATA, "version_table": VERSION_TABLE, "compare_type": True}
    if connection is None:
        url = context.config.get_main_option("sqlalchemy.url")
        context.configure(url=url, literal_binds=True, dialect_opts={"paramstyle": "named"}, **options)
    else:
        context.configure(connection=connection, transaction_per_migration=False, **options)
    with context.begin_transaction():
        context.run_migrations()


run()
