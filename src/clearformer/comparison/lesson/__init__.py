"""The textbook's table of the older ways, with a measured figure in every cell."""
