"""What is shown of a metastore, and to whom.

web   pages for people, JSON for programs
mcp   answers for assistants
"""
