"""`python -m truerisk` is the command `truerisk`."""

from truerisk.cli import main

if __name__ == "__main__":
    main(prog_name="python -m truerisk")
