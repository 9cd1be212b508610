"""The checks of `hmstats doctor`. They change nothing, except for a file that is created and removed again.

versions   programs and packages of this machine
server     the metastore
storage    the database and the warehouse of a server on this machine
session    a Spark session
finding    the result of one check
"""
