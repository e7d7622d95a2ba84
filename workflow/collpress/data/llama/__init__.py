"""A Llama-architecture model in numpy: read from a GGUF file, run forwards and backwards, and its tensors captured.

Nothing here trains or generates: a pass over a text gives the tensors that training and serving send between ranks.
"""
