"""Simulation of a broker: the paging engine and the disk monitor. Imports nothing heavy."""
