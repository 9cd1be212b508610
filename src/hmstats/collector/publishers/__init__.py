"""Where tasks of a running write leave what they found, and where its end collects it: `thrift`, `sql`, `fs`.

`protocols` has the two interfaces, `registry` finds their implementations.
"""
