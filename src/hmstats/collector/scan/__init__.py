"""The Spark job: it reads pieces, and accumulates what is in them.

scan                                    the job: cuts the work, runs the tasks, merges their outcomes
tasks                                   what a task does with the pieces that it reads
file_rows                               files read directly inside the tasks, into accumulators
files/                                  Parquet and ORC files, cut into tasks of about equal bytes, as Arrow batches
rows, dataframe, placing                other data: a DataFrame's rows as Arrow batches, and their pieces
arrow_types, states                     arrays in the column's type, and accumulators by piece
proof, row_proof                        what is proven of Spark's rows before it is stored
progress, task_errors                   how far the job is, and what its tasks raise
workers_python, worker_memory           the Python that the tasks run in, and what it keeps from one to the next
"""
