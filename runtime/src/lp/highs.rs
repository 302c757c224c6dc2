//! The one file that touches HiGHS: a linear program kept alive between solves, changed by bounds and costs.
//!
//! Every status of HiGHS is matched. What is neither an optimum nor a proof of infeasibility is [`LpStatus::Stopped`]
//! or [`LpStatus::Trouble`], and callers may conclude nothing from it.

use super::Program;
use highs_sys as sys;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What came of a solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LpStatus {
    Optimal,
    Infeasible,
    /// The time ran out or the caller interrupted.
    Stopped,
    /// HiGHS failed in the named way.
    Trouble(&'static str),
}

/// Minimise c·x over rows and columns with bounds, by the serial dual simplex method from the last basis.
pub struct Lp {
    highs: *mut c_void,
    rows: usize,
    cols: usize,
    /// HiGHS refused a part of the program (a number beyond its range): what it would solve is not what was asked.
    broken: bool,
}

// SAFETY: an instance of HiGHS may be used from any thread, by one at a time.
unsafe impl Send for Lp {}

impl Drop for Lp {
    fn drop(&mut self) {
        // SAFETY: created by Highs_create, destroyed once.
        unsafe { sys::Highs_destroy(self.highs) }
    }
}

impl Default for Lp {
    fn default() -> Lp {
        Lp::new()
    }
}

impl Lp {
    /// An empty program. Presolve is off: it would throw away the basis, the duals of removed rows and the rays.
    pub fn new() -> Lp {
        // SAFETY: no precondition.
        let lp = Lp { highs: unsafe { sys::Highs_create() }, rows: 0, cols: 0, broken: false };
        assert!(!lp.highs.is_null(), "HiGHS could not be created");
        lp.set_flag(c"output_flag", false);
        lp.set_text(c"solver", c"simplex");
        lp.set_text(c"presolve", c"off");
        lp.set_text(c"parallel", c"off");
        lp
    }

    /// A whole program, handed over in one call.
    pub fn of(program: &Program) -> Lp {
        let mut lp = Lp::new();
        let (cols, rows, entries) = (program.cost.len(), program.starts.len(), program.values.len());
        assert!(program.col_lower.len() == cols && program.col_upper.len() == cols, "bounds for each column");
        assert!(program.row_lower.len() == rows && program.row_upper.len() == rows, "bounds for each row");
        assert_eq!(program.columns.len(), entries, "a column for each value");
        // SAFETY: live instance; the arrays have the lengths that were just checked.
        let status = unsafe {
            sys::Highs_passLp(
                lp.highs,
                cols as sys::HighsInt,
                rows as sys::HighsInt,
                entries as sys::HighsInt,
                sys::MATRIX_FORMAT_ROW_WISE,
                sys::OBJECTIVE_SENSE_MINIMIZE,
                0.0,
                program.cost.as_ptr(),
                program.col_lower.as_ptr(),
                program.col_upper.as_ptr(),
                program.row_lower.as_ptr(),
                program.row_upper.as_ptr(),
                program.starts.as_ptr(),
                program.columns.as_ptr(),
                program.values.as_ptr(),
            )
        };
        lp.note(status);
        (lp.rows, lp.cols) = (rows, cols);
        lp
    }

    fn set_flag(&self, option: &CStr, value: bool) {
        // SAFETY: live instance, terminated string.
        let status = unsafe { sys::Highs_setBoolOptionValue(self.highs, option.as_ptr(), value.into()) };
        assert_eq!(status, sys::STATUS_OK, "HiGHS has no option {option:?}");
    }

    fn set_text(&self, option: &CStr, value: &CStr) {
        // SAFETY: live instance, terminated strings.
        let status = unsafe { sys::Highs_setStringOptionValue(self.highs, option.as_ptr(), value.as_ptr()) };
        assert_eq!(status, sys::STATUS_OK, "HiGHS has no option {option:?}");
    }

    fn set_number(&self, option: &CStr, value: f64) {
        // SAFETY: live instance, terminated string.
        let status = unsafe { sys::Highs_setDoubleOptionValue(self.highs, option.as_ptr(), value) };
        assert_eq!(status, sys::STATUS_OK, "HiGHS has no option {option:?}");
    }

    /// How far a row or a column may be outside its bounds.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.set_number(c"primal_feasibility_tolerance", tolerance);
    }

    /// A warning says that HiGHS left out coefficients too small for it, which is its own business.
    fn note(&mut self, status: sys::HighsInt) {
        self.broken |= status == sys::STATUS_ERROR;
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Adds a variable and returns its index. Bounds may be infinite.
    pub fn add_col(&mut self, cost: f64, lower: f64, upper: f64) -> usize {
        // SAFETY: live instance; no coefficients are passed.
        let status = unsafe {
            let none = std::ptr::null();
            sys::Highs_addCol(self.highs, cost, lower, upper, 0, none, std::ptr::null())
        };
        self.note(status);
        self.cols += 1;
        self.cols - 1
    }

    /// Adds `lower ≤ Σ terms ≤ upper` and returns its index.
    pub fn add_row(&mut self, lower: f64, upper: f64, terms: &[(usize, f64)]) -> usize {
        let index: Vec<sys::HighsInt> = terms.iter().map(|&(col, _)| col as sys::HighsInt).collect();
        let value: Vec<f64> = terms.iter().map(|&(_, value)| value).collect();
        let count = terms.len() as sys::HighsInt;
        // SAFETY: live instance; both arrays hold `count` entries.
        let status = unsafe { sys::Highs_addRow(self.highs, lower, upper, count, index.as_ptr(), value.as_ptr()) };
        self.note(status);
        self.rows += 1;
        self.rows - 1
    }

    pub fn set_col_bounds(&mut self, col: usize, lower: f64, upper: f64) {
        assert!(col < self.cols);
        // SAFETY: live instance, existing column.
        let status = unsafe { sys::Highs_changeColBounds(self.highs, col as sys::HighsInt, lower, upper) };
        self.note(status);
    }

    pub fn set_row_bounds(&mut self, row: usize, lower: f64, upper: f64) {
        assert!(row < self.rows);
        // SAFETY: live instance, existing row.
        let status = unsafe { sys::Highs_changeRowBounds(self.highs, row as sys::HighsInt, lower, upper) };
        self.note(status);
    }

    pub fn set_cost(&mut self, col: usize, cost: f64) {
        assert!(col < self.cols);
        // SAFETY: live instance, existing column.
        let status = unsafe { sys::Highs_changeColCost(self.highs, col as sys::HighsInt, cost) };
        self.note(status);
    }

    pub fn set_coefficient(&mut self, row: usize, col: usize, value: f64) {
        assert!(row < self.rows && col < self.cols);
        // SAFETY: live instance, existing row and column.
        let status = unsafe { sys::Highs_changeCoeff(self.highs, row as sys::HighsInt, col as sys::HighsInt, value) };
        self.note(status);
    }

    /// Solves from the last basis, for at most `limit`, and stops soon after `interrupt` is set. After trouble it solves
    /// once more without the basis.
    pub fn solve(&mut self, limit: Duration, interrupt: &AtomicBool) -> LpStatus {
        if self.broken {
            return LpStatus::Trouble("a number beyond the solver's range");
        }
        let start = Instant::now();
        match self.run(limit, interrupt) {
            LpStatus::Trouble(_) => {
                // SAFETY: live instance.
                unsafe { sys::Highs_clearSolver(self.highs) };
                self.run(limit.saturating_sub(start.elapsed()), interrupt)
            }
            status => status,
        }
    }

    fn run(&mut self, limit: Duration, interrupt: &AtomicBool) -> LpStatus {
        // SAFETY: live instance. HiGHS counts its time over all solves, so the limit is set from what it has used.
        let used = unsafe { sys::Highs_getRunTime(self.highs) };
        self.set_number(c"time_limit", used + limit.as_secs_f64());
        let data = std::ptr::from_ref(interrupt).cast_mut().cast();
        // SAFETY: the callback reads `interrupt` during Highs_run only, while the borrow lasts, and is unset after it.
        let ran = unsafe {
            sys::Highs_setCallback(self.highs, Some(stop_if_interrupted), data);
            sys::Highs_startCallback(self.highs, sys::kHighsCallbackSimplexInterrupt);
            let ran = sys::Highs_run(self.highs);
            sys::Highs_stopCallback(self.highs, sys::kHighsCallbackSimplexInterrupt);
            sys::Highs_setCallback(self.highs, None, std::ptr::null_mut());
            ran
        };
        if ran == sys::STATUS_ERROR {
            return LpStatus::Trouble("the solver reported an error");
        }
        // SAFETY: live instance.
        status(unsafe { sys::Highs_getModelStatus(self.highs) })
    }

    /// The values of the columns and the duals of the rows of the last solve.
    pub fn solution(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut value, mut reduced) = (vec![0.0; self.cols], vec![0.0; self.cols]);
        let (mut activity, mut dual) = (vec![0.0; self.rows], vec![0.0; self.rows]);
        // SAFETY: live instance; the arrays have the sizes HiGHS fills.
        unsafe {
            sys::Highs_getSolution(
                self.highs,
                value.as_mut_ptr(),
                reduced.as_mut_ptr(),
                activity.as_mut_ptr(),
                dual.as_mut_ptr(),
            );
        }
        (value, dual)
    }

    /// Row multipliers that HiGHS takes to prove infeasibility, if it has them.
    pub fn dual_ray(&self) -> Option<Vec<f64>> {
        let mut ray = vec![0.0; self.rows];
        let mut has = 0;
        // SAFETY: live instance; the array has one entry a row.
        let status = unsafe { sys::Highs_getDualRay(self.highs, &mut has, ray.as_mut_ptr()) };
        (status != sys::STATUS_ERROR && has == 1).then_some(ray)
    }

    /// Simplex iterations of the last solve.
    pub fn iterations(&self) -> u64 {
        let mut count = 0;
        // SAFETY: live instance, terminated string, a place for one number.
        let status = unsafe { sys::Highs_getIntInfoValue(self.highs, c"simplex_iteration_count".as_ptr(), &mut count) };
        if status == sys::STATUS_OK { u64::try_from(count).unwrap_or(0) } else { 0 }
    }
}

unsafe extern "C" fn stop_if_interrupted(
    _: std::ffi::c_int,
    _: *const std::ffi::c_char,
    _: *const sys::HighsCallbackDataOut,
    answer: *mut sys::HighsCallbackDataIn,
    interrupt: *mut c_void,
) {
    // SAFETY: HiGHS passes the pointer given to Highs_setCallback and, for this kind of callback, a place for the answer.
    unsafe {
        if !answer.is_null() && (*interrupt.cast::<AtomicBool>()).load(Ordering::Relaxed) {
            (*answer).user_interrupt = 1;
        }
    }
}

fn status(status: sys::HighsInt) -> LpStatus {
    match status {
        sys::MODEL_STATUS_OPTIMAL => LpStatus::Optimal,
        sys::MODEL_STATUS_INFEASIBLE => LpStatus::Infeasible,
        sys::MODEL_STATUS_REACHED_TIME_LIMIT | sys::MODEL_STATUS_REACHED_INTERRUPT => LpStatus::Stopped,
        sys::MODEL_STATUS_REACHED_ITERATION_LIMIT => LpStatus::Trouble("the iteration limit"),
        sys::MODEL_STATUS_NOTSET => LpStatus::Trouble("no model status"),
        sys::MODEL_STATUS_LOAD_ERROR => LpStatus::Trouble("a load error"),
        sys::MODEL_STATUS_MODEL_ERROR => LpStatus::Trouble("a model error"),
        sys::MODEL_STATUS_PRESOLVE_ERROR => LpStatus::Trouble("a presolve error"),
        sys::MODEL_STATUS_SOLVE_ERROR => LpStatus::Trouble("a solve error"),
        sys::MODEL_STATUS_POSTSOLVE_ERROR => LpStatus::Trouble("a postsolve error"),
        sys::MODEL_STATUS_MODEL_EMPTY => LpStatus::Trouble("an empty model"),
        sys::MODEL_STATUS_UNBOUNDED_OR_INFEASIBLE => LpStatus::Trouble("unbounded or infeasible"),
        sys::MODEL_STATUS_UNBOUNDED => LpStatus::Trouble("an unbounded model"),
        sys::MODEL_STATUS_OBJECTIVE_BOUND => LpStatus::Trouble("an objective bound"),
        sys::MODEL_STATUS_OBJECTIVE_TARGET => LpStatus::Trouble("an objective target"),
        sys::MODEL_STATUS_UNKNOWN => LpStatus::Trouble("an unknown model status"),
        sys::MODEL_STATUS_REACHED_SOLUTION_LIMIT => LpStatus::Trouble("a solution limit"),
        sys::MODEL_STATUS_REACHED_MEMORY_LIMIT => LpStatus::Trouble("the memory limit"),
        _ => LpStatus::Trouble("a model status this version does not know"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn triangle() -> Lp {
        let mut lp = Lp::new();
        let x = lp.add_col(-1.0, 0.0, 4.0);
        let y = lp.add_col(-2.0, 0.0, f64::INFINITY);
        lp.add_row(f64::NEG_INFINITY, 5.0, &[(x, 1.0), (y, 1.0)]);
        lp
    }

    #[test]
    fn a_first_program_is_solved_and_changed() {
        let go = AtomicBool::new(false);
        let mut lp = triangle();
        assert_eq!(lp.solve(LIMIT, &go), LpStatus::Optimal);
        let (value, dual) = lp.solution();
        assert_eq!((value, dual), (vec![0.0, 5.0], vec![-2.0]));
        lp.set_col_bounds(1, 0.0, 3.0);
        assert_eq!(lp.solve(LIMIT, &go), LpStatus::Optimal);
        assert_eq!(lp.solution().0, [2.0, 3.0]);
        lp.set_cost(0, 1.0);
        lp.set_row_bounds(0, 4.0, 5.0);
        assert_eq!(lp.solve(LIMIT, &go), LpStatus::Optimal);
        assert_eq!(lp.solution().0, [1.0, 3.0]);
    }

    #[test]
    fn a_program_handed_over_whole_is_the_same() {
        let mut program = Program::default();
        let x = program.add_col(-1.0, 0.0, 4.0);
        let y = program.add_col(-2.0, 0.0, f64::INFINITY);
        program.add_row(f64::NEG_INFINITY, 5.0, [(x, 1.0), (y, 1.0)]);
        let mut lp = Lp::of(&program);
        assert_eq!((lp.rows(), lp.cols()), (1, 2));
        lp.add_row(f64::NEG_INFINITY, 3.0, &[(y, 1.0)]);
        assert_eq!(lp.solve(LIMIT, &AtomicBool::new(false)), LpStatus::Optimal);
        assert_eq!(lp.solution().0, [2.0, 3.0]);
        program.add_row(f64::NEG_INFINITY, 1.0, [(x, 1e30)]);
        assert!(matches!(Lp::of(&program).solve(LIMIT, &AtomicBool::new(false)), LpStatus::Trouble(_)));
    }

    #[test]
    fn infeasibility_comes_with_a_ray() {
        let mut lp = triangle();
        lp.set_row_bounds(0, -2.0, -1.0);
        assert_eq!(lp.solve(LIMIT, &AtomicBool::new(false)), LpStatus::Infeasible);
        let ray = lp.dual_ray().expect("a ray");
        assert!(ray[0] != 0.0);
    }

    #[test]
    fn a_number_beyond_its_range_is_trouble() {
        let mut lp = triangle();
        lp.add_row(f64::NEG_INFINITY, 1.0, &[(0, 1e30)]);
        assert!(matches!(lp.solve(LIMIT, &AtomicBool::new(false)), LpStatus::Trouble(_)));
    }

    #[test]
    fn an_unbounded_program_is_trouble() {
        let mut lp = triangle();
        lp.set_row_bounds(0, f64::NEG_INFINITY, f64::INFINITY);
        assert!(matches!(lp.solve(LIMIT, &AtomicBool::new(false)), LpStatus::Trouble(_)));
    }
}
