"""The command line: one file per command; only here is anything printed."""
