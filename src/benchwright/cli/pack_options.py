"""Options that several commands of `benchwright pack` share."""

from __future__ import annotations

from benchwright.cli.command_help import combine_options, option
from benchwright.cli.options import host_version_option, node_option

CONTEXT_SETTINGS = {"auto_envvar_prefix": "BENCHWRIGHT"}
"""Settings of click's context for all `pack` commands: environment variables can set their options."""

registry_options = combine_options(
    option("--registry", metavar="URL", heading="Source", rare=True,
           help="Address or file of the registry (default: the official one)."),
    host_version_option,
)  # fmt: skip

source_options = combine_options(
    registry_options,
    option("--github-archive", metavar="URL", heading="Source", rare=True,
           help="Address of archives, containing {repository} and {tag} (default: GitHub)."),
    node_option,
)  # fmt: skip
"""Options for the sources of packs, and for the Node program that loads a pack once before it is installed."""
