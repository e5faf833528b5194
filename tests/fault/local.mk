# Faults: allocation and system calls that fail the first, second, third ... time.
