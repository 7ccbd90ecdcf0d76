"""The recorder inside PyTorch; what it shares with others is in :mod:`gradtool.engine.recorders.recorded`."""
