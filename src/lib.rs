//! A tensor and autograd engine: micrograd grown up.
