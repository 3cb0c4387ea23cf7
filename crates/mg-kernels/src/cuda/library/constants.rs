//! Numbers of the kernels' sources, as the build found them there (`build/generate.rs`): a module for each file, with what is the same
//! in all its kernels. What is not is asked of the kernel: `Prebuilt::constant`.

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
