"""The gate: rules about backward graphs, and what they find in models.

==============  =========================================================================================
rules/          a file for each rule: what it says, why it matters, a wrong and a right model
rule.py         what a rule is
evidence.py     what rules look at: a model's answers, each of them asked for once
finding.py      what a rule found, with its place and a fingerprint that moved lines leave as it is
checking.py     rules applied to a model
==============  =========================================================================================
"""
