"""Results of detectors for a program: from the whole trace, and as numbers.

The detectors themselves are native sinks (autofinity/native/detect, and autofinity/native/sim where
they meet a replay); `model/detection.py` describes them.
"""
