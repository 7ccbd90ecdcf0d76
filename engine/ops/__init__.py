"""Operators: one definition each.

``opdef`` says what a definition is, ``readings`` runs a rule over arrays or over a tape, ``derive`` makes the gradient
operators, ``registry`` finds an operator by name or type, ``infer`` holds shape rules that many operators share,
``compat`` the names that no rule can derive, ``samples`` the inputs that tests are generated from, and ``library`` the
definitions themselves.
"""
