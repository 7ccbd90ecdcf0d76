"""Programs of other frameworks: a recorder inside tells what they do, and a player writes it down as dynamic mode does.

A framework has a folder beside this one, with the only modules that import it; what they share is here. What a recorder
(:mod:`.recorder`) tells (:mod:`.events`) goes straight to the player (:mod:`.player`), or into a file (:mod:`.archive`)
that is played where the framework is not installed.
"""
