"""What the fakes of clients make: this PTX, and this path of a ptxas."""
ptx = ""
ptxas = "/nowhere/ptxas"
