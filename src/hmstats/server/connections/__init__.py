"""Clients' connections, in the selector's thread.

loop                sleeps until a socket, a worker or a deadline has something
connection          one socket, its bytes, and the call on it
exchange            requests are read, handed to workers, and replies written
streamed_reply      a reply that is sent while another metastore still makes it
partial_requests    a budget for requests of which a part has come
prompt_replies      cached answers, given by the selector's thread itself
sent_calls          calls that the selector's thread relays itself
call_threads        threads that run calls, and those that wait for another metastore
workers             a pool of threads, and the queue before it
handshakes          connections that become encrypted before their first request
proofs              users that are proven before a request is read
deadlines, unsent   time limits, and replies that clients have not taken
"""
