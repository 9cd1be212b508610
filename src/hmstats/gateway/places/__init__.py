"""Several places that have databases: upstreams, and hmstats' own tables. Each database belongs to one of them.

places          which place a call goes to
call_databases  the databases that a call is about
routing         the place of a database
unions          calls that list what all places have
asking          one question to several places side by side
slots           how many calls an upstream may hold up
"""
