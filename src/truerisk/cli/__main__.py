"""The command line, as `python -m truerisk.cli`."""

from truerisk.cli import main

if __name__ == "__main__":
    main(prog_name="truerisk")
