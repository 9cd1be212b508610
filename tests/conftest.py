"""Fixtures for all tests; each module of tests/fixtures holds those of one subject."""

# In the order in which they import each other.
pytest_plugins = [
    "tests.fixtures.postgres",
    "tests.fixtures.statements",
    "tests.fixtures.versions",
    "tests.fixtures.hive",
    "tests.fixtures.hive_schemas",
    "tests.fixtures.servers",
    "tests.fixtures.metastores",
    "tests.fixtures.pairs",
    "tests.fixtures.spark",
]
