"""Publishers, through which tasks of a running write store their states, and aggregators, which collect them.

protocols the two interfaces; registry finds their implementations by entry points thrift in the service itself fs in
files of a folder sql in a table of any database; jdbc reads the names that older settings give it
"""
