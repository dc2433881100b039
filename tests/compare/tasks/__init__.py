"""Tests of the tasks; a package, so that they share `compare.tasks.reading_dates`."""
