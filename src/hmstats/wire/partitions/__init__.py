"""Partitions in their several forms.

partition_fields   with only the fields that a request names
partition_specs    many in one struct
partition_bytes    straight from the model to bytes
"""
