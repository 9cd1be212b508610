"""Tables whose catalog is another metastore's: what is known of it beside the rows of all tables.

mirrored   HMSTATS_MIRROR: which tables are mirrors, and the version whose statistics the other metastore has
seen       HMSTATS_MIRROR_SEEN: what the other metastore last said of each column's statistics
calls      HMSTATS_MIRROR_CALL: calls under way that change tables there
"""
