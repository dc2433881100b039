"""Why the models of a comparison differ: what goes back, what time costs, what is looked at."""
