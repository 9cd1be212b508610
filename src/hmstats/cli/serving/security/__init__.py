"""TLS, authentication and access rules of a server, from its settings.

tls                   the certificate that connections get
authentication, ldap  how clients prove who they are
access                what clients may do
"""
