//! The few elements of SVG that a plot needs.

use std::fmt::Write;

/// A place on the drawing: to the right, and down.
pub type Point = (f64, f64);

#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Svg {
        let mut svg = Svg { width, height, body: String::new() };
        svg.rectangle((0.0, 0.0), (width, height), "fill=\"#fff\"", None);
        svg
    }

    pub fn line(&mut self, (x1, y1): Point, (x2, y2): Point, style: &str) {
        self.put(format_args!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" {style}/>"));
    }

    pub fn path(&mut self, points: &[Point], style: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.put(format_args!("<polyline points=\"{}\" fill=\"none\" {style}/>", points.join(" ")));
    }

    /// The title is what a browser tells of the shape under the pointer.
    pub fn rectangle(&mut self, (x, y): Point, (width, height): Point, style: &str, title: Option<&str>) {
        let shape = format!("rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {style}");
        self.titled(&shape, title);
    }

    pub fn circle(&mut self, (x, y): Point, radius: f64, style: &str, title: Option<&str>) {
        self.titled(&format!("circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" {style}"), title);
    }

    pub fn polygon(&mut self, points: &[Point], style: &str, title: Option<&str>) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.titled(&format!("polygon points=\"{}\" {style}", points.join(" ")), title);
    }

    pub fn text(&mut self, at: Point, anchor: Anchor, text: &str) {
        self.text_turned(at, anchor, text, 0.0);
    }

    /// Turned by degrees around its place.
    pub fn text_turned(&mut self, (x, y): Point, anchor: Anchor, text: &str, degrees: f64) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let turn =
            if degrees == 0.0 { String::new() } else { format!(" transform=\"rotate({degrees} {x:.1} {y:.1})\"") };
        let text = escape(text);
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" stroke=\"none\"{turn}>{text}</text>"
        ));
    }

    pub fn finish(self) -> String {
        let (width, height) = (self.width, self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\" fill=\"#222\">\n{}</svg>\n",
            self.body
        )
    }

    fn titled(&mut self, shape: &str, title: Option<&str>) {
        let name = shape.split(' ').next().unwrap_or_default();
        match title {
            Some(title) => self.put(format_args!("<{shape}><title>{}</title></{name}>", escape(title))),
            None => self.put(format_args!("<{shape}/>")),
        }
    }

    fn put(&mut self, element: std::fmt::Arguments) {
        let _ = writeln!(self.body, "{element}");
    }
}

/// Text that is neither markup nor the end of an attribute.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
