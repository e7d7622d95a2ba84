"""Codec plugins from Python: the same shared objects that the native core loads, through ctypes and without MPI."""

from collpress.codecs.codec import Codec, CodecContext, Setting
from collpress.codecs.parameter import Parameter
from collpress.codecs.zfp import codec_environment, zfp_library

__all__ = ["Codec", "CodecContext", "Parameter", "Setting", "codec_environment", "zfp_library"]
