"""The recorder inside PyTorch; what it shares with others is in :mod:`gradtool.models.recorded`."""
