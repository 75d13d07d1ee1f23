# SPDX-License-Identifier: Apache-2.0
"""Measures a PyTorch training step and writes it as a Mergewise model (schema mergewise/model/1).

Needs Python 3.8 and torch 1.10 or later and nothing else, so that it runs in anybody's training
environment. torch is imported only where a model is.
"""

__version__ = "0.1.0"
