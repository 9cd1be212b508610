"""Several places that have databases: upstreams, and hmstats' own tables. Each database belongs to one of them.

places          which place a call goes to
call_databases  the databases that a call is about
routing         the place of a database
all_places      all of them, for a call that is about several
unions          calls that list what all places have
catalogs        one catalog by its name
health_pages    lists of health, page by page
spread          calls of our own that several places carry out
asking          one question to several places side by side
slots           how many calls an upstream may hold up
"""
