"""The eight model families and the training protocol once more, in plain PyTorch: what cwm is held against.

Written from the same description of the mathematics as cwm (the paper's own code), not from cwm. Parameters have the
names and shapes of the paper's code, so that a checkpoint of cwm loads as it is. `fixtures.py` beside this folder holds
it against what that code computed.
"""
