"""`clearformer completion`: the script that lets a shell complete commands and flags."""

import click

from clearformer.errors import ConfigurationError


@click.command(name="completion", short_help="Print the script that completes commands.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete commands and flags.

    \b
      clearformer completion bash >> ~/.bashrc
      clearformer completion zsh >> ~/.zshrc
      clearformer completion fish > ~/.config/fish/completions/clearformer.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise ConfigurationError(f"no completion is known for {shell}")
    made = kind(ctx.find_root().command, {}, "clearformer", "_CLEARFORMER_COMPLETE")
    click.echo(made.source())
