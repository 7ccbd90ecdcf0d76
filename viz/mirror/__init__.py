"""The mirror layout: every gradient operator on the row of the forward operator that it differentiates.

=======================  ==================================================================================
scene.py                 what a layout gives: boxes, lines and texts with their places
layout.py                the whole: cells, then tracks and frames, then places in pixels
drawn.py                 a view as arrays, the one pass over its objects
cells.py, columns.py     which row and column everything stands in; branches in side columns
forward_cells.py         the forward part; backward_cells.py mirrors it, gutters.py holds parameters and gradients
lanes.py, tracks.py      where lines run, so that none crosses a box
frames.py, captions.py   blocks of branches and loops; texts and their widths
=======================  ==================================================================================
"""
