"""Statistics on their way to a metastore.

parcel          what of one table goes together
push            sends parcels
spool           a folder of parcels that a metastore could not take
parcel_bytes    the form of its files
transfer        from one metastore, or a file, to another
dropped_writes  which writes a lock would drop
"""
