"""The Spark job: it reads pieces, and accumulates what is in them.

scan                                    the job: splits the work, runs the tasks, merges their outcomes
tasks                                   the work of a task on its pieces
file_rows                               files read directly inside the tasks, into accumulators
files/                                  Parquet and ORC files, cut into tasks of about equal bytes, as Arrow batches
rows, dataframe, placing                other data: a DataFrame's rows as Arrow batches, and their pieces
arrow_types, states                     converts arrays to the columns' types; accumulators by piece
proof, row_proof                        checks Spark's rows before their statistics are stored
progress, task_errors                   the progress of the job, and the errors of its tasks
workers_python, worker_memory           the Python of the tasks, and the modules that it keeps between them
"""
