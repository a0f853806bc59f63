"""The compression policy: which action each channel of a prompt gets, learnt from utilities by DPO (paper 2.8)."""
