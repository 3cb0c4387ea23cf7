//! Where tensors live: dtypes, layouts, buffers, devices and the caching allocator.
