"""What the fakes of clients make: this PTX, and the paths of a ptxas and an nvcc."""
import os

ptx = ""
nvcc = ""
ptxas = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ptxas")
ptx_options = ""  # of a kernel, as Triton has them
