"""JSON under /api/v1: what each page shows, for programs.

routes.py      the operations as routes
operations.py  the table of operations: path, parameters, answer; all else is made from it
changes.py     the table of changes
precondition.py  a change names the version that it is about
parameters.py  what a request gives, checked by its operation
path_names.py  names of columns as parts of a path
openapi.py     the description, OpenAPI 3.1, made from the table
problems.py    errors as RFC 9457 has them
"""
