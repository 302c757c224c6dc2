//! Weights of the rows of a conjunction: points of the simplex, and steps on it.
//!
//! The bound of a combination is concave in the weights too, and where it is attained the rows' values are a supergradient.

/// The same for all.
pub fn even(count: usize) -> Box<[f32]> {
    vec![1.0 / count as f32; count].into()
}

/// Most for one row, and a part for the others together.
pub fn mostly(row: usize, count: usize, others: f32) -> Box<[f32]> {
    let mut weights = vec![others / (count - 1).max(1) as f32; count];
    weights[row] = if count > 1 { 1.0 - others } else { 1.0 };
    weights.into()
}

/// A step towards the rows that are larger than the combination. The farthest of them moves by the rate.
pub fn step(weights: &mut [f32], values: &[f32], rate: f32) {
    let now: f32 = weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
    let most = values.iter().map(|value| (value - now).abs()).fold(0.0, f32::max);
    if !(most > 0.0 && most.is_finite()) {
        return;
    }
    weights.iter_mut().zip(values).for_each(|(weight, value)| *weight += rate * (value - now) / most);
    project(weights);
}

/// The nearest point of the simplex: what is left above a level, which makes the sum 1.
fn project(weights: &mut [f32]) {
    let mut falling = weights.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut level) = (0.0, 0.0);
    for (before, &weight) in falling.iter().enumerate() {
        sum += weight;
        let next = (sum - 1.0) / (before + 1) as f32;
        if weight > next {
            level = next;
        }
    }
    weights.iter_mut().for_each(|weight| *weight = (*weight - level).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_points_of_the_simplex() {
        assert_eq!(*even(4), [0.25; 4]);
        assert_eq!(*mostly(1, 3, 0.5), [0.25, 0.5, 0.25]);
        assert_eq!(*mostly(0, 1, 0.5), [1.0]);
    }

    #[test]
    fn the_nearest_point_of_the_simplex() {
        let mut inside = [0.5, 0.25, 0.25];
        project(&mut inside);
        assert_eq!(inside, [0.5, 0.25, 0.25]);
        let mut outside = [1.5, 0.5, -3.0];
        project(&mut outside);
        assert_eq!(outside, [1.0, 0.0, 0.0]);
        let mut below = [-1.0, -1.0];
        project(&mut below);
        assert_eq!(below, [0.5, 0.5]);
    }

    /// Two rows of which one rises where the other falls: the best combination is where both are equal.
    #[test]
    fn steps_reach_the_best_combination() {
        let mut weights = [1.0, 0.0];
        let mut rate = 0.3;
        for _ in 0..60 {
            // At its least point the combination of t and 1 − 3t over [0, 1] is at an end.
            let t = if weights[0] > 3.0 * weights[1] { 0.0 } else { 1.0 };
            step(&mut weights, &[t, 1.0 - 3.0 * t], rate);
            rate *= 0.9;
        }
        assert!((weights[0] - 0.75).abs() < 0.02, "{weights:?}");
    }

    #[test]
    fn what_is_no_number_moves_nothing() {
        let mut weights = [0.5, 0.5];
        step(&mut weights, &[f32::NAN, 1.0], 0.1);
        step(&mut weights, &[f32::INFINITY, 1.0], 0.1);
        step(&mut weights, &[2.0, 2.0], 0.1);
        assert_eq!(weights, [0.5, 0.5]);
    }
}
