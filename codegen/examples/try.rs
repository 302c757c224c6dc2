use pg_codegen::{compile, interpret::Interpreter};
use pg_runtime::{network::Network, options::*, property::*, report::Control, search::verify, verdict::Verdict};
use std::path::Path;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let net = Interpreter::new(compile(Path::new(&a[1])).unwrap());
    let timeout: f64 = a[2].parse().unwrap();
    for p in &a[3..] {
        let prop = if let Some((img, eps)) = p.split_once('@') {
            let image = read_image(Path::new(img), &Decimal::from(255)).unwrap();
            let x: Vec<f32> = image.iter().map(|d| d.to_f32_down()).collect();
            let mut y = vec![0.0; net.outputs()]; net.forward(&x, &mut y);
            let label = (0..y.len()).max_by(|&i, &j| y[i].total_cmp(&y[j])).unwrap();
            Property::robust(&image, &eps.parse().unwrap(), Some((Decimal::zero(), Decimal::one())), label, net.outputs()).unwrap()
        } else { Property::read(Path::new(p)).unwrap() };
        let options = Options { engine: Engine::Peregrinn, ..Default::default() };
        let control = Control::new(Some(timeout));
        let o = verify(&net, &prop, &options, &control);
        let why = if let Verdict::Unknown(r) = &o.verdict { r.to_string() } else { String::new() };
        println!("{} {} {:.2}s nodes {} leaves {} lp {} it {} depth {} exact {} | samp {:.2} bounds {:.2} lp {:.2} cert {:.2} {}", p.rsplit('/').next().unwrap(), o.verdict.word(), o.times.total, o.counters.nodes, o.counters.leaves, o.counters.lp_calls, o.counters.simplex_iterations, o.counters.max_depth, o.counters.exact_calls, o.times.sampling, o.times.bounds, o.times.lp, o.times.certify, why);
    }
}
