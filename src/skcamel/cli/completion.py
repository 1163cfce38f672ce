"""``skcamel completion``: the script that makes bash, zsh or fish complete commands, options, data sets and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from skcamel.cli.output import hand_over
from skcamel.cli.root import COMPLETE, examples, root


@click.command(
    epilog=examples(
        'eval "$(skcamel completion bash)"        # in ~/.bashrc',
        'eval "$(skcamel completion zsh)"         # in ~/.zshrc',
        "skcamel completion fish > ~/.config/fish/completions/skcamel.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that teaches your shell to complete skcamel's commands, options, data set names and files."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 click knows all three
    script = kind(root, {}, "skcamel", COMPLETE)
    hand_over(script.source_template % script.source_vars() + "\n")  # without source(): it starts a shell to ask for its version
