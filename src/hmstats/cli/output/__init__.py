"""Output for people: each file turns results into text, without further calls.

statistics_table, sparkline parts that several commands print analysis_output, check_output of `hmstats analyze` and
`hmstats check` show_table, show_rows of `hmstats show`: for a terminal, and for programs
"""
