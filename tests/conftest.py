"""Fixtures for all tests; each module of tests/fixtures holds those of one subject."""

import os

from hypothesis import HealthCheck, settings
from tests.peers import spark_classes

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Sessions of Spark live for seconds here: half of that time goes to loading classes, a third to the second compiler.
os.environ.setdefault("SPARK_SUBMIT_OPTS", spark_classes.java_options())

# In the order in which they import each other.
pytest_plugins = [
    "tests.fixtures.runs.temporary_files",
    "tests.fixtures.runs.garbage",
    "tests.fixtures.runs.scheduling",
    "tests.fixtures.runs.tiers",
    "tests.fixtures.databases.postgres",
    "tests.fixtures.databases.database_pool",
    "tests.fixtures.databases.statements",
    "tests.fixtures.databases.compiled_statements",
    "tests.fixtures.databases.english",
    "tests.fixtures.databases.versions",
    "tests.fixtures.hive",
    "tests.fixtures.identity.kerberos",
    "tests.fixtures.identity.directory",
    "tests.fixtures.databases.hive_schemas",
    "tests.fixtures.servers",
    "tests.fixtures.metastores",
    "tests.fixtures.pairs",
    "tests.fixtures.spark.spark_session",
]
