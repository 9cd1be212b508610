"""What each command does once its arguments are read. A file has the name of its command.

serve, adopt, leave, doctor, config   a server and its database; token and password: its clients' proofs
analysis, checking                    Spark's jobs; spark_arguments reads their arguments before Spark is loaded
show, ask, compare                    stored statistics; compare_sources is what compare puts side by side
push, export, import_, delete         statistics on their way
"""
