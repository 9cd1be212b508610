"""The database: Hive's tables and ours, through SQLAlchemy Core. A file for each entity; always whole sets of rows."""
