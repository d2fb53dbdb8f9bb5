import os
from types import SimpleNamespace

runtime = SimpleNamespace()
if os.environ.get("FAKE_TRITON", "3.9.0") >= "3.6":
    runtime.add_stages_inspection_hook = None
nvidia = SimpleNamespace(disable_ptxas_opt=False)
