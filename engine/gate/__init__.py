"""The gate: rules about backward graphs, and what they find in models.

==============  =========================================================================================
rules/          a file for each rule: what it says, why it matters, a wrong and a right model
rule.py         what a rule is
selection.py    which rules are applied, and how
evidence.py     what rules look at: a model's answers, each of them asked for once
sizes.py        sizes of gradients, without what ``why`` says of them
finding.py      what a rule found, with its place and a fingerprint that moved lines leave as it is
checking.py     rules applied to a model
subject.py      a model that is checked: its name and how it is loaded, as a file or a line of it says
discovery.py    which models are checked: those that are named, in folders, or configured
checked.py      a job and what comes of it, as data that goes from process to process
pool.py         models side by side, each in a process of its own; worker.py is the other end
warming.py      what is loaded before the first model; printed.py keeps what one alone prints
policy.py       what holds for which models, files and parameters
waivers.py      comments that say which findings are meant to be
baseline.py     findings that are known
judging.py      what is left of findings after all of these
cache.py        what came of models that have not changed; usage.py says what they depend on, unchanged.py compares it
process.py      findings about a process that did not come to its end
report.py       what was found in all models of one call
==============  =========================================================================================
"""
