//! BBR, version 3, on acknowledgements played by hand.
