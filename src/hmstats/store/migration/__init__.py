"""The schema's revision and its upgrade. The migrations themselves are in migrations/.

schema_revision   the revision of a database, and the newest
migrate           creates and upgrades the tables
only_ours         restricts migrations to our own tables beside a Hive
location_index    an index that is built after the migrations
hive_survey       a read-only survey of a Hive's database
leaving           removes our tables and parameters from a Hive's database
"""
