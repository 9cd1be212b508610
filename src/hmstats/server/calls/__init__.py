"""From a whole request to its reply.

dispatch        decodes, runs the call, encodes its result or its error
call_kinds      what each RPC does to the database
relaying        the seam to a gateway, which has another metastore answer calls
refusals        calls that this server refuses
canary          calls of canaries, which see pending statistics
one_snapshot    one snapshot of the database for each call that reads
audit           a record of calls
audit_table     the records on their way to the database
direct_writes   calls that write statistics, straight from their bytes
"""
