"""Sends findings to the metastore, from the driver and from tasks.

items     converts findings to items for the metastore
deliver   delivers items in batches, or to the spool folder
waiting   finds delivered numbers that are not in force yet
"""
