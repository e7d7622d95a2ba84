"""Codec plugins from Python: the same shared objects that the native core loads, through ctypes and without MPI.

from collpress import codecs
data = codecs.compress(array, "deltapack", rel_bound=1e-3)
back = codecs.decompress(data)
"""

from collpress.codecs.arrays import compress, decompress, names
from collpress.codecs.codec import Codec, CodecContext, Setting
from collpress.codecs.outside import codec_environment, outside_library
from collpress.codecs.parameter import Parameter

__all__ = [
    "Codec",
    "CodecContext",
    "Parameter",
    "Setting",
    "codec_environment",
    "compress",
    "decompress",
    "names",
    "outside_library",
]
