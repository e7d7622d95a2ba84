"""The command line's verbs, one a file; see `collpress.cli` for what a verb module holds."""
