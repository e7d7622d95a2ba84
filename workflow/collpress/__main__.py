"""``python -m collpress``."""

from collpress.cli import main

raise SystemExit(main())
