"""The server: sockets, worker threads and the calls of the API."""
