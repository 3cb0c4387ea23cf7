//! Elementary functions, written once against [`FloatLane`](crate::FloatLane).
