"""The protocol: the IDL, and one codec file for each part of the model, both directions side by side.

idl.py                 the API as thriftpy2 sees it
catalog/               databases, tables and what belongs to them
partitions/            partitions in their several forms
conditions/            conditions over partitions in Hive's bytes
statistics/            column statistics
transactions.py        locks, transactions and write ids
access.py              what a user may do by access rules
privileges.py          roles and privileges; principals.py has the types of principals
events/                messages of the notification log
messages/              messages as bytes: envelopes, the scan for the end, limits of a request
sasl_messages.py       messages and frames of SASL, for connections by Kerberos
digest_md5.py          the mechanism DIGEST-MD5 of SASL; digest_seal.py: protection against changes behind it
delegation_tokens.py   delegation tokens as Hadoop writes them
faults.py              errors and the exceptions of the API
"""
