"""The places that have databases: several upstreams, and hmstats' own tables. Each database belongs to one of them.

places          chooses the place of a call
call_databases  the databases that a call is about
routing         the place of a database
all_places      all places, for a call that is about several
unions          calls that list what all places have
catalogs        finds a catalog by its name
health_pages    merges the places' lists of health, page by page
spread          calls of our own that several places carry out
asking          asks several places in parallel
slots           limits the calls that wait for one upstream
"""
