use super::*;

fn resources(device: DeviceChoice, granted: &[&str]) -> Resources {
    let devices = granted.iter().map(|name| (*name).to_owned()).collect();
    Resources { device, devices, ..Resources::default() }
}

#[test]
fn the_processor_is_always_there_and_is_what_nobody_chose() {
    for choice in [DeviceChoice::Cpu, DeviceChoice::Auto] {
        let opened = open(&resources(choice, &[])).unwrap();
        assert_eq!((opened.name.as_str(), opened.note), ("cpu", None));
        assert!(is_cpu(&opened.device) && is_cpu(&opened.device.autodiff()));
    }
    let opened = open(&Resources { accelerator_unavailable: true, ..Resources::default() }).unwrap();
    assert!(is_cpu(&opened.device));
    assert!(opened.note.unwrap().starts_with("requests a GPU, and there is none: "));
    let listed = list();
    assert!(listed[0].name == "cpu" && listed[0].usable && listed[0].description.contains("core"), "{listed:?}");
    assert!(listed.len() >= 2, "what keeps GPUs from being used is told: {listed:?}");
}

/// On a machine without a GPU, or in a build without CUDA; with both it is for a GPU to say.
#[test]
fn a_gpu_that_cannot_be_used_is_an_error_in_words_by_number_and_a_note_by_chance() {
    if list().iter().any(|device| device.usable && device.name != "cpu") {
        return eprintln!("skipped: this machine has a GPU");
    }
    let message = open(&resources(DeviceChoice::Cuda(3), &[])).unwrap_err().to_string();
    assert!(message.starts_with("cannot use cuda:3: "), "{message}");
    let told =
        ["has no CUDA; build it with", "is not found; install", "is not found; it comes", "are not found", "driver"];
    assert!(told.iter().any(|told| message.contains(told)), "{message}");
    let opened = open(&resources(DeviceChoice::Auto, &["cuda:0"])).unwrap();
    assert!(is_cpu(&opened.device));
    assert!(opened.note.unwrap().starts_with("a GPU is at hand, but not used: "));
    assert!(named("cuda:0").is_err());
    assert!(named("gpu").unwrap_err().to_string().starts_with("`gpu` is no device; "));
}

#[test]
fn panics_are_caught_on_gpus_and_bugs_stay_bugs_on_the_processor() {
    let done: Result<u8, ModelError> = catch_panics(&cpu(), || Ok(7));
    assert_eq!(done.unwrap(), 7);
    let panicked = std::panic::catch_unwind(|| catch_panics(&cpu(), || -> Result<u8, ModelError> { panic!("a bug") }));
    assert!(panicked.is_err());
}
