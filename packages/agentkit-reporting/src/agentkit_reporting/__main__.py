"""The command: `python -m agentkit_reporting show run.jsonl`."""

import sys

from agentkit_reporting._command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
