"""How the stub of the driver (src/execute/emulate) is set for tests of what measures: time is the number of warp instructions, a
microsecond each.

  environment(noise=0.02)    of a process that loads it; see src/execute/emulate/settings.h
"""
import json

VARIABLE = "PTXOPT_EMULATION"
USUAL = {"countsTime": True, "stepLimit": 200_000_000, "memory": 1 << 30}


def environment(**settings):
    return {VARIABLE: json.dumps({**USUAL, **settings})}
