"""The protocols that a connection may speak.

protocols        which one its first bytes say
http_protocol    messages in the bodies of HTTP requests
sasl_protocol    messages behind a SASL negotiation
"""
