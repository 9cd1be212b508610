"""The work of the commands about what queries teach.

learn   read files of engines, and record who is to blame
blame   list who is to blame
"""
