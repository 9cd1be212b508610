"""Fixtures for all tests; each module of tests/fixtures holds those of one subject."""

pytest_plugins = ["tests.fixtures.postgres", "tests.fixtures.statements"]
