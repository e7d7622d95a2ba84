"""``python -m collpress.runner``, under mpiexec."""

from collpress.runner.main import main

raise SystemExit(main())
