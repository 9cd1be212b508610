"""The proof of a client's user, before its first call.

authentication      the mechanisms that a server accepts, and over which connections
credentials         what a request says to prove its user
certificate_users   the user that a client's certificate names
tokens              tokens of hmstats' own
json_web_tokens     tokens of an identity provider; json_web_keys: the keys that sign them
passwords           passwords of a file; guessing: slows down clients that guess
directory           passwords that an LDAP directory checks; proven_passwords: those that it need not check again
sasl                mechanisms for connections of Thrift without HTTP; sasl_plain: passwords; kerberos: tickets
sasl_digest         delegation tokens, by SASL
delegation          tokens that stand for a ticket, and who may act as others
"""
