"""Who may reach a server, and what they may do there.

tls                   the certificate that connections get
authentication, ldap  how clients prove who they are
access                what clients may do
"""
