"""Messages of Thrift's binary protocol as bytes, before anything in them is decoded.

envelope     name, type and sequence id
allowance    what one message may make its reader spend
scanner      finds the end of a message
"""
