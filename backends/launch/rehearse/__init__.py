"""A rehearsal: a script that was written for CUDA or an NPU, a few steps of it, on the CPU."""
