"""Messages of Thrift's binary protocol as bytes, before they are decoded.

envelope     name, type and sequence id
allowance    the limits of one request
scanner      finds the end of a message
"""
