"""Bytes to messages and back: structures, constants, the decoder that keeps shapes, the answer tracker."""
