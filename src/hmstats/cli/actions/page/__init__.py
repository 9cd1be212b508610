"""Shows a metastore to people, programs and assistants.

web   pages for people, JSON for programs
mcp   answers for assistants
"""
