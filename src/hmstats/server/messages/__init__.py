"""Messages of Thrift's protocols as bytes; those of the binary protocol are taken apart in hmstats.wire.messages.

request                      a whole request, with its head and what else was learnt of it
encodings                    binary and compact; compact_reader and compact_writer turn one into the other
struct_codec                 structs of arguments and results
map_types, list_keyed_maps   maps that thriftpy2 would misread, or cannot hold
"""
