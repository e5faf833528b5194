# Simulation: the schedules of all ranks in one process.
