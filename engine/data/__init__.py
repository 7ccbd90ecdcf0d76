"""Arrays in files: what models are fed, read by header and never unpickled."""
