"""Messages of the notification log.

event_messages    what Hive's listener writes for each event
read_messages     what messages of any writer say
partition_texts   partitions in them
json_protocol     Thrift's JSON protocol
"""
