"""Versions and changes of tables, for caches.

versions             HMSTATS_TABLE_VERSION
exclusive_versions   cached versions, in a process that is the only writer
version_line         asynchronous reads of versions
touched_partitions   HMSTATS_TABLE_CHANGE and HMSTATS_OWN_CHANGE
notifications        NOTIFICATION_LOG; hive_changes reads the events of a Hive from it
"""
