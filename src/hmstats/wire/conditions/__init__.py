"""Conditions over partitions, in the bytes of Hive 2.3, 3.1 and 4.

partition_expressions   the condition
hive_classes            the classes that Hive writes
kryo                    object graphs in Kryo's bytes
"""
