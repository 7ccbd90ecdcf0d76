"""Gradients in tests: a plugin of pytest, and assertions that say which line cuts a gradient off.

================  ====================================================================================
plugin.py         the hooks of pytest; all that is imported where no test asks for anything
held.py           the losses of a test as models: the test is watched as a model file is
assertions.py     what a test claims of a loss; public as ``gradtool.testing``
fixture.py        the fixture ``gradients``: the same, and the answers of the commands
golden.py         graphs that are kept as text beside the tests
marked.py         ``@pytest.mark.gradtool``: the rules of the gate for what a test backpropagates
items.py          model files as tests: ``pytest --gradtool``
================  ====================================================================================
"""
