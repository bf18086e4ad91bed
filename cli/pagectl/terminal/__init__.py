"""What people see while a command runs: streams, progress, keys, untrusted text made safe."""
