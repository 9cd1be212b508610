"""Health of statistics.

changed_tables   the tables that events of the notification log name, and a walk through all tables
facts            what is stored of tables and partitions that health depends on
rewritten        statistics written since a version, and the sizes at that time
health_rows      HMSTATS_HEALTH
runs             HMSTATS_RUN and HMSTATS_RUN_LEASE: runs that refresh statistics
listing          tables and partitions by health
blame            HMSTATS_BLAME: who is to blame for wrong estimates of queries
"""
