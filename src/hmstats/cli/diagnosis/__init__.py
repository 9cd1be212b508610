"""What `hmstats doctor` looks at. Nothing here changes anything, but for a file that is made and removed again.

versions   programs and packages of this machine
server     the metastore
storage    what a server of this machine would use
session    a Spark session
finding    what was found of one thing
"""
