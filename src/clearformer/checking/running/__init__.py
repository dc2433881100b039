"""Tries a learner's answer on the probes of an exercise, here or in another process.

`here.try_here` and `apart.try_apart` give the same record; `probes.all_probes` the inputs on which
it was tried, and `flatten.flatten` the names of the arrays that came back.

What is not contained, in either: the answer runs with the rights of the person who calls it, so it
can read and write their files and use the network.
"""
