"""Commands that run until they are stopped.

serve.py   the metastore
web.py     the page
mcp.py     questions of assistants
"""
