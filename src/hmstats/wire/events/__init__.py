"""Messages of the notification log.

event_messages    what Hive's listener writes for each event
partition_texts   partitions in them
json_protocol     Thrift's JSON protocol
"""
