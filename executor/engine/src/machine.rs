//! The resources of this machine, and their allocation to cells.

use cwm_contract::amount::format_bytes;
use cwm_contract::{DeviceChoice, Needs, Resources};
use cwm_core::os;

/// Cores, memory and accelerators that stages may use.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Cores.
    pub cores: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Accelerators, as CUDA_VISIBLE_DEVICES names them.
    pub devices: Vec<String>,
}

impl Machine {
    /// Returns this machine, with at most `jobs` cores.
    pub fn detect(jobs: Option<u32>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let visible = std::env::var("CUDA_VISIBLE_DEVICES").ok();
        let devices = devices(visible.as_deref(), os::gpu_count());
        Machine { cores: jobs.unwrap_or(cores).max(1), memory: os::total_memory().unwrap_or(u64::MAX), devices }
    }
}

/// Returns the accelerators of a machine with so many GPUs. CUDA_VISIBLE_DEVICES (`visible`) may restrict them.
fn devices(visible: Option<&str>, gpus: usize) -> Vec<String> {
    if let Some(visible) = visible {
        // CUDA reads up to the first id that is invalid, such as `-1`.
        let ids = visible.split(',').map(str::trim);
        return ids.take_while(|id| !id.is_empty() && !id.starts_with('-')).map(str::to_owned).collect();
    }
    // A container may see any of the machine's GPUs, and CUDA counts those from 0.
    (0..gpus).map(|ordinal| ordinal.to_string()).collect()
}

/// Returns the needs of a cell that computes on `device`: no accelerator on the CPU, and one on a GPU of NVIDIA unless the cell
/// has its own value. Other GPUs are not counted: the machine's accelerators are those of NVIDIA.
pub fn needs_on(device: DeviceChoice, needs: &Needs) -> Needs {
    match device {
        DeviceChoice::Auto => *needs,
        DeviceChoice::Cpu | DeviceChoice::Wgpu(_) => Needs { gpu: 0.0, ..*needs },
        DeviceChoice::Cuda(_) => Needs { gpu: if needs.gpu > 0.0 { needs.gpu } else { 1.0 }, ..*needs },
    }
}

/// The free part of a machine.
pub struct ResourcePool {
    machine: Machine,
    cores: u32,
    memory: u64,
    /// Free part of each device, 0 to 1.
    devices: Vec<f64>,
}

/// A share of a [`ResourcePool`], until [`ResourcePool::release`].
#[derive(Clone, Debug)]
pub struct Allocation {
    /// The share as its action sees it.
    pub resources: Resources,
    devices: Vec<(usize, f64)>,
    /// Its accelerators, as CUDA_VISIBLE_DEVICES names them; none must be visible if this is empty, and whichever are if
    /// it is `None`.
    pub visible_devices: Option<Vec<String>>,
}

impl ResourcePool {
    /// Makes a pool of all of the machine.
    pub fn new(machine: Machine) -> Self {
        let devices = vec![1.0; machine.devices.len()];
        ResourcePool { cores: machine.cores, memory: machine.memory, devices, machine }
    }

    /// Clamps needs to what the machine has, with a warning if that is less.
    pub fn clamp(&self, needs: &Needs) -> (Needs, Option<String>) {
        let mut clamped = *needs;
        let mut shortfalls = Vec::new();
        let cores = needs.cpu.unwrap_or(self.machine.cores).max(1);
        clamped.cpu = Some(cores.min(self.machine.cores));
        if cores > self.machine.cores {
            shortfalls.push(format!("{cores} cores, gets {}", self.machine.cores));
        }
        if needs.memory > self.machine.memory {
            clamped.memory = self.machine.memory;
            let [need, limit] = [needs.memory, clamped.memory].map(format_bytes);
            shortfalls.push(format!("{need} of memory, gets {limit}"));
        }
        let devices = self.machine.devices.len() as f64;
        if needs.gpu > devices {
            clamped.gpu = devices;
            let wanted = match needs.gpu {
                part if part < 1.0 => format!("{part} of an accelerator"),
                1.0 => "1 accelerator".to_owned(),
                several => format!("{several} accelerators"),
            };
            shortfalls.push(format!("{wanted}, gets {devices}"));
        }
        (clamped, (!shortfalls.is_empty()).then(|| format!("needs {}", shortfalls.join(" and "))))
    }

    /// Allocates a share for these (clamped) needs, if that is free. A GPU that `device` names is the device of the share. If this
    /// machine has none of that name, all stay visible: the stage opens it, or fails with what is missing.
    pub fn allocate(&mut self, needs: &Needs, device: DeviceChoice) -> Option<Allocation> {
        let cores = needs.cpu.unwrap_or(self.machine.cores);
        if cores > self.cores || needs.memory > self.memory {
            return None;
        }
        let devices = self.pick_devices(needs.gpu, device)?;
        self.cores -= cores;
        self.memory -= needs.memory;
        for (index, part) in &devices {
            self.devices[*index] -= part;
        }
        let names: Vec<String> = devices.iter().map(|(index, _)| format!("cuda:{index}")).collect();
        let memory = (needs.memory > 0).then_some(needs.memory);
        let resources =
            Resources { cores: cores as usize, memory, devices: names, accelerator_unavailable: false, device };
        let is_unknown = matches!(device, DeviceChoice::Cuda(index) if index as usize >= self.machine.devices.len());
        let visible_devices = || devices.iter().map(|(index, _)| self.machine.devices[*index].clone()).collect();
        let visible_devices = (!is_unknown).then(visible_devices);
        Some(Allocation { resources, devices, visible_devices })
    }

    /// Picks the device that `device` names, or a part of it; else whole devices for whole numbers, and the fullest one that has
    /// a part free.
    fn pick_devices(&self, needed: f64, device: DeviceChoice) -> Option<Vec<(usize, f64)>> {
        let mut free = (0..self.devices.len()).filter(|index| self.devices[*index] + 1e-9 >= needed.min(1.0));
        match device {
            DeviceChoice::Cuda(index) if index as usize >= self.devices.len() => Some(Vec::new()),
            DeviceChoice::Cuda(named) => {
                free.find(|index| *index == named as usize).map(|index| vec![(index, needed.min(1.0))])
            }
            _ if needed <= 0.0 => Some(Vec::new()),
            _ if needed < 1.0 => {
                free.min_by(|a, b| self.devices[*a].total_cmp(&self.devices[*b])).map(|index| vec![(index, needed)])
            }
            _ => {
                let whole: Vec<_> = free.take(needed.ceil() as usize).map(|index| (index, 1.0)).collect();
                (whole.len() == needed.ceil() as usize).then_some(whole)
            }
        }
    }

    /// Releases a share.
    pub fn release(&mut self, allocation: Allocation) {
        self.cores += allocation.resources.cores as u32;
        self.memory += allocation.resources.memory.unwrap_or(0);
        for (index, part) in allocation.devices {
            self.devices[index] += part;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> ResourcePool {
        ResourcePool::new(Machine { cores: 2, memory: 100, devices: vec!["0".into(), "GPU-b".into()] })
    }

    #[test]
    fn accelerators_are_those_that_are_given_or_all_that_are_there() {
        assert_eq!(devices(None, 2), ["0", "1"]);
        assert!(devices(None, 0).is_empty());
        assert_eq!(devices(Some("3, GPU-b"), 2), ["3", "GPU-b"]);
        for none in ["", "-1", " -1,0", ","] {
            assert!(devices(Some(none), 2).is_empty(), "{none}");
        }
        assert_eq!(devices(Some("2,-1,0"), 2), ["2"]);
    }

    #[test]
    fn shares_never_exceed_the_machine_and_come_back() {
        let mut pool = pool();
        let one = Needs { cpu: Some(1), gpu: 0.0, memory: 60 };
        let allocation = pool.allocate(&one, DeviceChoice::Auto).unwrap();
        assert!(pool.allocate(&one, DeviceChoice::Auto).is_none(), "memory is short");
        pool.release(allocation);
        assert!(pool.allocate(&one, DeviceChoice::Auto).is_some());
    }

    #[test]
    fn parts_of_a_device_are_packed_and_whole_ones_are_exclusive() {
        let mut pool = pool();
        let quarter = Needs { cpu: Some(0), gpu: 0.25, memory: 0 };
        let taken: Vec<_> = (0..4).map(|_| pool.allocate(&quarter, DeviceChoice::Auto).unwrap()).collect();
        assert!(taken.iter().all(|allocation| allocation.visible_devices.as_deref().unwrap() == ["0"]));
        let whole = Needs { cpu: Some(0), gpu: 1.0, memory: 0 };
        let Allocation { visible_devices, resources, .. } = pool.allocate(&whole, DeviceChoice::Auto).unwrap();
        assert_eq!((visible_devices.unwrap()[0].as_str(), resources.devices[0].as_str()), ("GPU-b", "cuda:1"));
        assert!(pool.allocate(&quarter, DeviceChoice::Auto).is_none());
    }

    #[test]
    fn asking_for_more_than_there_is_is_clamped_in_words() {
        let (clamped, shortfalls) = pool().clamp(&Needs { cpu: Some(64), gpu: 0.0, memory: 0 });
        assert_eq!(clamped.cpu, Some(2));
        assert_eq!(shortfalls.unwrap(), "needs 64 cores, gets 2");
        assert_eq!(pool().clamp(&Needs { cpu: None, gpu: 0.0, memory: 0 }).1, None);
        let large = Needs { cpu: None, gpu: 0.0, memory: 900 << 40 };
        let shortfalls = ResourcePool::new(Machine { memory: 4_000_000_000, ..pool().machine }).clamp(&large).1;
        assert_eq!(shortfalls.unwrap(), "needs 989.6 TB of memory, gets 4.0 GB");
        let without = ResourcePool::new(Machine { devices: Vec::new(), ..Machine::detect(None) });
        for (gpu, expected) in [(0.5, "0.5 of an accelerator"), (1.0, "1 accelerator"), (2.0, "2 accelerators")] {
            let (clamped, shortfalls) = without.clamp(&Needs { cpu: Some(1), gpu, memory: 0 });
            assert_eq!((clamped.gpu, shortfalls.unwrap()), (0.0, format!("needs {expected}, gets 0")));
        }
    }

    #[test]
    fn a_gpu_by_number_is_that_one_and_the_processor_needs_none() {
        let mut pool = pool();
        let needs = Needs { cpu: Some(0), gpu: 0.0, memory: 0 };
        let second = DeviceChoice::Cuda(1);
        assert_eq!(needs_on(second, &needs).gpu, 1.0);
        let half = needs_on(second, &Needs { gpu: 0.5, ..needs });
        let allocation = pool.allocate(&half, second).unwrap();
        assert_eq!(allocation.visible_devices.as_deref().unwrap(), ["GPU-b"]);
        assert_eq!(
            (&allocation.resources.devices[..], allocation.resources.device),
            (&["cuda:1".to_owned()][..], second)
        );
        assert!(pool.allocate(&needs_on(second, &needs), second).is_none(), "half of it is taken");
        pool.release(allocation);
        assert!(pool.allocate(&needs_on(second, &needs), second).is_some());
        // The stage opens an unknown device, or fails.
        let allocation = pool.allocate(&needs_on(DeviceChoice::Cuda(7), &needs), DeviceChoice::Cuda(7)).unwrap();
        assert_eq!(allocation.visible_devices, None);
        let allocation = pool.allocate(&needs, DeviceChoice::Auto).unwrap();
        assert_eq!(allocation.visible_devices.unwrap(), [""; 0]);
        assert_eq!(needs_on(DeviceChoice::Cpu, &Needs { gpu: 2.0, ..needs }).gpu, 0.0);
    }
}
