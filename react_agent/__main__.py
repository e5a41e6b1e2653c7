"""python -m react_agent"""

import sys

from react_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
