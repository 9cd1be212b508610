"""Sends what changed in a metastore to data catalogs, by plain HTTP.

In the order in which it flows:

changed.py       the tables that changed since a cursor
cursors.py       how far a feed has come, in a file
profiles.py      numbers of columns that catalogs share
openlineage.py   a table as OpenLineage has it
datahub.py       a table as DataHub has it
openmetadata.py  a table as OpenMetadata has it
sending.py       requests, with retries
feed.py          one run of a feed
"""
