"""What each command is called, takes and says of itself; what it does is imported when it runs.

Nothing here imports more than typer: `--help` and the completion of a shell read all of these modules.
"""
