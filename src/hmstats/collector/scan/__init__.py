"""The Spark job: it reads pieces, and accumulates what is in them.

splits                                  files cut into tasks of about equal bytes
scan                                    the job: cuts the work, runs the tasks, merges their outcomes
tasks                                   what a task does with the pieces that it reads
file_rows                               files read directly inside the tasks, into accumulators
parquet                                 Parquet files by row group
orc, orc_footer                         ORC files by stripe, where Arrow's values are Spark's
rows, dataframe, placing                other data: a DataFrame's rows as Arrow batches, and their pieces
arrow_types, states                     arrays in the column's type, and accumulators by piece
proof, row_proof                        what is proven of Spark's rows before it is stored
progress, task_errors, workers_python   how far the job is, what its tasks raise, and the Python that they run in
"""
