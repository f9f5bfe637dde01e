"""`python -m autofinity`."""

from autofinity.cli.main import main

if __name__ == "__main__":
    main()
