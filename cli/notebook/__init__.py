"""gradtool in IPython and Jupyter: ``%load_ext gradtool``."""
