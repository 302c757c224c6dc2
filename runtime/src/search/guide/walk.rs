//! Hit and run (Smith, 1984): a walk through a convex set that comes near every part of it.
//!
//! From a point inside, each step takes a random direction and then a uniform point of the chord along it. Its limit is the
//! uniform distribution, whatever the shape; no sample is ever thrown away.

use super::body::Body;
use super::random::Random;

impl Body {
    /// A random point of the set.
    pub fn anywhere(&self, random: &mut Random) -> Vec<f64> {
        let mut x = self.centre.clone();
        for _ in 0..self.tuning.far {
            self.step(&mut x, random);
        }
        x
    }

    /// One step of the walk from a point of the set; where there is no way to go the point stays.
    pub fn step(&self, x: &mut [f64], random: &mut Random) {
        let mut direction: Vec<f64> = self.half_sides().iter().map(|half| half * random.normal()).collect();
        self.keep_equations(&mut direction);
        let (low, high) = self.chord(x, &direction);
        let t = low + (high - low) * random.unit();
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += t * d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::{Disjunct, Property};
    use crate::report::Control;
    use crate::search::proof::exact::input_set;
    use crate::tuning::Tuning;

    /// Inputs in [0, 1] under conditions.
    fn disjunct(inputs: usize, conditions: &[&str]) -> Disjunct {
        let declared =
            (0..inputs).map(|i| format!("(declare-const X_{i} Real)(assert (and (>= X_{i} 0) (<= X_{i} 1)))"));
        let conditions = conditions.iter().map(|condition| format!("(assert {condition})"));
        let text = declared.chain(["(declare-const Y_0 Real)".into()]).chain(conditions).collect::<String>();
        Property::parse(&text, "a test").unwrap().disjuncts.remove(0)
    }

    fn body(disjunct: &Disjunct) -> Option<Body> {
        Body::new(&input_set(disjunct), disjunct.quadratics.clone(), &[], &Control::new(None), Tuning::default().body)
            .ok()
    }

    fn walk(body: &Body, steps: usize, seed: u64) -> Vec<Vec<f64>> {
        let (mut x, mut random) = (body.centre.clone(), Random::new(seed));
        let step = |_| {
            body.step(&mut x, &mut random);
            x.clone()
        };
        (0..steps).map(step).collect()
    }

    fn is_inside(disjunct: &Disjunct, x: &[f64]) -> bool {
        let floats = disjunct.region.nearest_floats(x.iter().map(|&v| v as f32)).unwrap();
        disjunct.contains_input(&floats)
    }

    /// How many of the walk's points are inside once they are float32, and the mean of each input.
    fn summary(disjunct: &Disjunct, points: &[Vec<f64>]) -> (usize, Vec<f64>) {
        let inside = points.iter().filter(|x| is_inside(disjunct, x)).count();
        let mean = |i: usize| points.iter().map(|x| x[i]).sum::<f64>() / points.len() as f64;
        (inside, (0..points[0].len()).map(mean).collect())
    }

    #[test]
    fn a_simplex_is_walked_evenly() {
        let simplex = disjunct(3, &["(<= (+ X_0 X_1 X_2) 0.1)"]);
        let points = walk(&body(&simplex).unwrap(), 20_000, 1);
        let (inside, mean) = summary(&simplex, &points);
        assert!(inside >= 19_990, "{inside}");
        assert!(mean.iter().all(|m| (m - 0.025).abs() < 0.002), "the centroid is at 0.1 / 4: {mean:?}");
    }

    #[test]
    fn half_a_ball_is_walked_evenly() {
        let ball = "(<= (+ (* (- X_0 0.5) (- X_0 0.5)) (* (- X_1 0.5) (- X_1 0.5))) 0.04)";
        let half = disjunct(2, &[ball, "(>= X_0 0.5)"]);
        let points = walk(&body(&half).unwrap(), 20_000, 2);
        let (inside, mean) = summary(&half, &points);
        assert!(inside >= 19_990, "{inside}");
        let expected = 0.5 + 4.0 * 0.2 / (3.0 * std::f64::consts::PI);
        assert!((mean[0] - expected).abs() < 0.005 && (mean[1] - 0.5).abs() < 0.005, "{mean:?}");
    }

    #[test]
    fn equations_are_kept() {
        let plane = disjunct(3, &["(= X_0 X_1)", "(<= (+ X_0 X_2) 0.5)", "(= (* 3.0 X_0) (* 3.0 X_1))"]);
        let points = walk(&body(&plane).unwrap(), 2_000, 3);
        assert!(points.iter().all(|x| (x[0] - x[1]).abs() < 1e-9));
        let (inside, mean) = summary(&plane, &points);
        assert!(inside > 1_500, "{inside}");
        assert!((mean[0] - 0.5 / 3.0).abs() < 0.03 && (mean[2] - 0.5 / 3.0).abs() < 0.03, "{mean:?}");
    }

    #[test]
    fn equations_are_kept_within_a_ball() {
        let ball = "(<= (+ (* (- X_0 0.5) (- X_0 0.5)) (* X_1 X_1) (* X_2 X_2)) 0.3)";
        let disc = disjunct(3, &[ball, "(= X_0 X_1)", "(= X_2 0.125)"]);
        let points = walk(&body(&disc).unwrap(), 2_000, 8);
        assert!(points.iter().all(|x| (x[0] - x[1]).abs() < 1e-9 && (x[2] - 0.125).abs() < 1e-9));
        let (inside, _) = summary(&disc, &points);
        assert!(inside > 1_500, "{inside}");
    }

    /// A point, a line that no pair of rows announces, a ball of radius 0, nothing at all.
    #[test]
    fn sets_without_an_inside_are_not_walked() {
        assert!(body(&disjunct(2, &["(>= (+ X_0 X_1) 2.0)"])).is_none());
        assert!(body(&disjunct(2, &["(<= (+ X_0 X_1) 1.0)", "(>= (+ X_0 (* 2.0 X_1)) 2.0)"])).is_none());
        assert!(body(&disjunct(2, &["(<= (+ (* X_0 X_0) (* X_1 X_1)) 0.0)"])).is_none());
        assert!(body(&disjunct(2, &["(<= (+ X_0 X_1) -1.0)"])).is_none());
    }

    #[test]
    fn a_fixed_point_stays() {
        let fixed = disjunct(2, &["(= X_0 0.25)", "(= (+ X_0 X_1) 0.75)"]);
        let body = body(&fixed).expect("equations leave no inequality without room");
        assert!(walk(&body, 100, 4).iter().all(|x| (x[0] - 0.25).abs() < 1e-9 && (x[1] - 0.5).abs() < 1e-9));
    }

    #[test]
    fn points_outside_are_pulled_in() {
        let set = disjunct(2, &["(<= (+ X_0 X_1) 0.5)", "(<= (* 4.0 X_0 X_0) X_1)"]);
        let body = body(&set).unwrap();
        for x in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [9.0, -9.0], [0.0, 0.0]] {
            let pulled = body.pull(&x);
            assert!(is_inside(&set, &pulled), "{x:?} to {pulled:?}");
        }
        let inside = body.anywhere(&mut Random::new(5));
        let moved: f64 = body.pull(&inside).iter().zip(&inside).map(|(a, b)| (a - b).abs()).sum();
        assert!(moved < 1e-5, "{moved}");
    }

    #[test]
    fn the_seed_decides() {
        let simplex = disjunct(3, &["(<= (+ X_0 X_1 X_2) 0.1)"]);
        let body = body(&simplex).unwrap();
        assert_eq!(walk(&body, 10, 6), walk(&body, 10, 6));
        assert_ne!(walk(&body, 10, 6), walk(&body, 10, 7));
    }
}
