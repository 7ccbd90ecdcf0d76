"""Documents: reports and debugger sessions as one HTML file, a notebook, Markdown or a batch script.

:mod:`.blocks` says what a document consists of. ``html``, ``ipynb``, ``markdown`` and ``script`` hold a pure function
each that makes a file of it. :mod:`.session` makes a document of a session and reads saved ones.
"""
