"""Tables of storage descriptors, parameters and changes of files.

descriptors, descriptor_rows   SDS with its serde, columns, buckets, sort columns and skew
parts                          parts of tables, partitions and storages: rows of up to three texts
parameters                     key and value texts
file_changes                   HMSTATS_FILE_CHANGE: changes of directories in progress
drop_locations                 locations of dropped objects, and other objects there
"""
