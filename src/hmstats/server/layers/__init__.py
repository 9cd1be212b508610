"""Layers of bytes between a socket and the protocols.

certificates   the server's certificate and key, read again when their files change
tls_socket     a socket whose bytes are encrypted by TLS
sasl_socket    a socket whose client was proven by SASL (wire/sasl_messages.py), and whose bytes may be protected by it
"""
