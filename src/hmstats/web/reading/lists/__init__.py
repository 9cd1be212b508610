"""Lists of tables and runs, by pages.

table_list.py   by name, and databases
health_list.py  by health, the worst first
run_list.py     runs that refresh statistics, newest first
"""
