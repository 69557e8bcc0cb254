"""The sweep: random programs, what the report says of them, and what doing it gains (see ../sweep.py)."""
