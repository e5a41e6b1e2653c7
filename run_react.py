#!/usr/bin/env python3
"""The same program as `react-agent`: python run_react.py --help"""

import sys

from react_agent.cli import main

if __name__ == "__main__":
    sys.exit(main())
