"""Models and unfinished fits in files: arrays and JSON."""
