"""The command line: thin shells over the packages, and the only place that prints for people.

In the order in which a command runs:

main.py             names every command and imports one when it is called
commands/           what each command is called, takes and says of itself
options.py          the options that several commands have
actions/            what each command does
diagnosis/          what `hmstats doctor` looks at
output/             tables, bars and lines for people
serving/            the processes of `hmstats serve`: parent and workers, their settings and logs
standard_output.py  what becomes of text that cannot be written
interrupts.py       the end of a command by a signal
exit_codes.py       what a command says to the shell
"""
