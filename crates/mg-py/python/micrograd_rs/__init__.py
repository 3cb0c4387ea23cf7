from ._micrograd_rs import *
