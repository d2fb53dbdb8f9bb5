"""What the fakes of clients make: this PTX, and this path of a ptxas."""
import os

ptx = ""
ptxas = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ptxas")
ptx_options = ""  # of a kernel, as Triton has them
