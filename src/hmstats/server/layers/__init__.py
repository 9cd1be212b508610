"""Layers of bytes between a socket and the protocols.

certificates   the server's certificate and key, read again when their files change
tls_socket     a socket whose bytes are encrypted by TLS
sasl_messages  the messages of a SASL negotiation, and the frames behind it
sasl_socket    a socket whose client was proven by SASL, and whose bytes may be protected by it
"""
