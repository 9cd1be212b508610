"""Output for people and programs: each file turns results into text, without further calls.

list_table.py         `hmstats list`
show_table.py         `hmstats show` for a terminal
show_rows.py          `hmstats show` for programs
plot.py               `hmstats show --plot`
analysis_output.py    `hmstats analyze`
health_output.py      `hmstats health`
refresh_output.py     `hmstats refresh` and `hmstats runs`
blame_output.py       `hmstats blame`
check_output.py       `hmstats check`
statistics_table.py   column statistics, a row for each column
sparkline.py          the distribution of a column
cell_texts.py         counts and ages
tables.py             the style of all tables
table_lines.py        tables for files and pipes
plain_texts.py        texts from outside, without control characters and markup
"""
