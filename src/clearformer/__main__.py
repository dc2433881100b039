"""`python -m clearformer` is the `clearformer` command."""

from clearformer.cli.main import entry

if __name__ == "__main__":
    entry()
