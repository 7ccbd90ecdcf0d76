"""The recorder inside real PaddlePaddle; what it shares with others is in :mod:`gradtool.engine.recorders.recorded`."""
