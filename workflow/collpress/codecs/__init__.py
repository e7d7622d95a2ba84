"""Codec plugins from Python: the same shared objects that the native core loads, through ctypes and without MPI."""

from collpress.codecs.codec import Codec, CodecContext, Parameter, Setting
from collpress.codecs.outside import codec_environment, outside_library

__all__ = ["Codec", "CodecContext", "Parameter", "Setting", "codec_environment", "outside_library"]
