"""Tests of the tasks; a package, so that they share `tasks.reading_dates`."""
