"""Lists of tables, by pages.

table_list.py   by name, and databases
health_list.py  by health, the worst first
"""
