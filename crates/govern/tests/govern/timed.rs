#[path = "../../benches/govern/hostile.rs"]
mod hostile;
#[test]
fn timed() {
    for rows in [50_000, 100_000] {
        for (of, rows) in hostile::cases(rows) {
            let began = std::time::Instant::now();
            let found = countersign_govern::check::check(&countersign_govern::world::World::new(rows, None));
            println!("{:.2} s {} codes {of}", began.elapsed().as_secs_f64(), found.len());
        }
    }
}
