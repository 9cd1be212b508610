"""`python -m hmstats`: the command line, where the folder of installed commands is not searched."""

from hmstats.cli.main import main

if __name__ == "__main__":
    main()
