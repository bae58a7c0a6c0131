//! What `cubecl-cuda` names of CubeCL's LLVM compiler, without the compiler: see README.md.

use std::ffi::c_char;
use std::fmt;

use cubecl_core::ir::nvidia::SmArch;
use cubecl_core::prelude::KernelDefinition;
use cubecl_environment::backtrace::BackTrace;
use cubecl_server::compiler::{CompilationError, Compiler};
use cubecl_server::kernel::BufferIOAttr;

use self::nvptx::ptx_version::PtxVersion;

/// What a compiler compiles for; here, only in name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LlvmTarget {
    /// The processor.
    #[default]
    Cpu,
    /// NVIDIA's GPUs.
    Nvptx,
}

/// A compiler that compiles nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlironCompiler {
    /// What it would compile for.
    pub target: LlvmTarget,
}

/// What a compilation is told.
#[derive(Clone, Debug, Default)]
pub struct PlironOptions {
    /// Architecture of an AMD GPU; there is none here.
    pub arch: Option<()>,
    /// Architecture of an NVIDIA GPU.
    pub sm_arch: Option<SmArch>,
    /// Version of PTX that the driver loads.
    pub ptx_version: Option<PtxVersion>,
    /// Whether scalars are passed in the kernel's parameters.
    pub grid_constants: bool,
    /// `cubecl-cuda` fills in the rest of the options from their defaults, so there must be a rest.
    pub rest: (),
}

/// What compiling would give.
#[derive(Clone)]
pub enum PlironArtifact {
    /// Machine code for the processor.
    Jit,
    /// PTX for an NVIDIA GPU.
    NvptxCode(NvptxModule),
}

impl fmt::Display for PlironArtifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlironArtifact::Jit => f.write_str("machine code"),
            PlironArtifact::NvptxCode(module) => f.write_str(&module.ir),
        }
    }
}

/// A compiled kernel for an NVIDIA GPU.
#[derive(Clone, Debug)]
pub struct NvptxModule {
    /// PTX, with a NUL at its end.
    pub ptx: Vec<c_char>,
    /// Symbol of the kernel.
    pub entrypoint: String,
    /// The same before LLVM.
    pub ir: String,
    /// Bytes of shared memory for a launch.
    pub shared_memory_size: usize,
    /// How the kernel uses each buffer.
    pub io: Vec<BufferIOAttr>,
}

impl Compiler for PlironCompiler {
    type Representation = PlironArtifact;
    type CompilationOptions = PlironOptions;

    fn compile(&mut self, _: KernelDefinition, _: &PlironOptions) -> Result<PlironArtifact, CompilationError> {
        Err(CompilationError::Generic {
            reason: "this build has no LLVM: kernels are compiled by NVRTC (feature `cpp` of cubecl-cuda)".into(),
            backtrace: BackTrace::capture(),
        })
    }

    fn extension(&self) -> &'static str {
        "ll"
    }

    fn lang_tag(&self) -> &'static str {
        "llvm"
    }
}

/// NVIDIA's side of the compiler.
pub mod nvptx {
    /// Versions of PTX.
    pub mod ptx_version {
        use std::fmt;

        /// A version of PTX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct PtxVersion(u32);

        impl PtxVersion {
            /// The version for a driver: none, since nothing here writes PTX.
            pub fn for_driver(_driver: i32) -> Option<Self> {
                None
            }
        }

        impl fmt::Display for PtxVersion {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "ptx{}", self.0)
            }
        }
    }
}

/// What both GPU targets share.
pub mod shared {
    /// What a compiler can make use of on a device.
    pub mod lowered_features {
        use cubecl_core::ir::DeviceProperties;

        /// A kind of GPU.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GpuTarget {
            /// NVIDIA's.
            Nvptx,
        }

        /// Takes nothing away: it is called only where LLVM compiles, which is nowhere.
        pub fn restrict_features(_properties: &mut DeviceProperties, _target: GpuTarget) {}
    }
}
