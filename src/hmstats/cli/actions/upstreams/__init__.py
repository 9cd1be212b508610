"""Several upstreams of a gateway.

move   a database from one of them to hmstats' own tables, or back
"""
