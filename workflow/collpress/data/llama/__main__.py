"""A pass in a process of its own: reads the request from standard input; an error is written to standard output.

It has one thread for matrices, set before numpy is loaded: with more, their last digits would depend on how many, and
the time on what else runs.
"""

from __future__ import annotations

import json
import sys

from collpress.data.llama.job import Request, run
from collpress.errors import CollpressError


def main() -> int:
    try:
        run(Request.model_validate_json(sys.stdin.buffer.read()))
    except CollpressError as error:
        json.dump({key: getattr(error, key) for key in ("what", "where", "allowed", "fix")}, sys.stdout)
        return error.exit_code
    except MemoryError:
        json.dump({"what": "not enough memory", "fix": "take fewer tokens"}, sys.stdout)
        return CollpressError.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
