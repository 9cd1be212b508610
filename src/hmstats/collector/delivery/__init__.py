"""Findings on their way to the metastore, from the driver and from tasks.

items     what goes there of a finding
deliver   in batches, or to the spool folder
waiting   which of them are not in force yet
"""
