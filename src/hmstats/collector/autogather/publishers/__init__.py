"""Publishers, through which tasks of a running write store their states, and aggregators, which collect them.

protocols   the two interfaces
registry    finds their implementations by entry points
thrift      states in the service itself
fs          states in files of a folder
sql         states in a table of any database
jdbc        the names that older settings give such a database
"""
