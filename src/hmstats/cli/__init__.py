"""The command line: thin shells over the packages, and the only place that prints for people.

In the order in which a command runs:

main.py             names every command and imports one when it is called
commands/           names, options and help texts of the commands
options.py          the options that several commands have
actions/            what each command does
diagnosis/          the checks of `hmstats doctor`
output/             tables, bars and lines for people
serving/            the processes of `hmstats serve`: parent and workers, their settings and logs
standard_output.py  the encoding of standard output, and errors of writing to it
interrupts.py       the end of a command by a signal
exit_codes.py       the exit codes of all commands
"""
