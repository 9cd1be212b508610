"""The rules: what a metastore answers and refuses, and what a change does to statistics. A call is one transaction."""
