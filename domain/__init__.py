"""The rules of KernelIndex: identity, facts, decisions, policies. Pure: no input or output, no clock, no randomness."""
