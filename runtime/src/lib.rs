pub mod lp;
