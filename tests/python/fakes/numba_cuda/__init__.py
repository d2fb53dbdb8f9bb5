__version__ = "0.30.4"
