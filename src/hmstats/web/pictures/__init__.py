"""SVG pictures of a column, made of elements and classes alone: a strict Content-Security-Policy takes no style.

Each says in words what it shows. They have no text inside, so that they can be stretched to any width.

svg.py          elements as text that cannot break out
histogram.py    bars of a histogram, with the band in which their heights may be off
shares.py       parts of all rows, side by side
health.py       health as a bar
duration.py     how long a run took, as a bar
lines.py        a number over its versions
column.py       the picture that a column's statistics allow
words.py        values and parts as short texts
"""
