"""The work of the commands about statistics that made estimates of queries wrong.

learn   read files of engines, and record who is to blame
blame   list who is to blame
"""
