//! Tests of the simulator by itself, and of the engine over simulated paths.

mod bbr3;
mod exits;
mod many;
mod ns2;
mod properties;
mod properties_pr;
mod resequence;
mod sizes;
mod stop;
mod sudden_delays;
