"""HTML pages: each shows one answer of the API, by the same functions that read it.

They work without a script. With htmx a search answers while it is typed, and further columns come as one scrolls.

routes.py      the pages by their paths
problems.py    errors as pages
rendering.py   templates, and what they can call
texts.py       numbers, sizes and times as people read them
addresses.py   links between pages
course_lines.py  the lines of a history
cell_grid.py   cells of partitions with their shade, laid out as months or in groups
templates/     Jinja2
static/        style, script, and htmx (4.0.1, Zero-Clause BSD)
"""
