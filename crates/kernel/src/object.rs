//! The BPF programs as the other modules use them: the congestion controls, adapted to the running kernel
//! and registered, and its selection in a cgroup. Without BPF programs, `absent.rs` replaces this module.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::Path;

use libbpf_rs::btf::types::{Enum, FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, BtfType, ReferencesType as _};
use libbpf_rs::query::{MapInfo, MapInfoIter};
use libbpf_rs::{Iter, Link, MapCore as _, MapHandle, MapMut, MapType, Object, OpenObject};
use rustix::time::{ClockId, clock_getres};

use crate::loading::{
    CGROUP, LISTENERS, Links, UNRUFFLED, is_constants, load, open, program, refused,
};
pub(crate) use crate::loading::{is_attached, unpin};
pub(crate) use crate::timestamps::{remove_filters, take_out_timestamps};
use crate::{Error, Growth};

/// Returns a number that identifies the build of the congestion control: a hash of its code.
pub(crate) fn build() -> u64 {
    let mut hasher = DefaultHasher::new();
    UNRUFFLED.hash(&mut hasher);
    hasher.finish()
}

/// A registration of the congestion control, which ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    link: Link,
    /// Programs and maps of the congestion control.
    _object: Object,
}

impl Registered {
    /// Loads and registers the congestion control with this growth.
    pub(crate) fn new(growth: Growth) -> Result<Self, Error> {
        crate::requirements::check()?;
        let kernel = Kernel::running()?;
        if growth == Growth::Bbr {
            crate::requirements::check_bbr()?;
        }
        let object = load(kernel.fit(open(UNRUFFLED)?, growth)?);
        let mut object = object.map_err(|error| match (growth, &error) {
            (Growth::Bbr, Error::Program { reason, .. }) if is_about_kfuncs(reason) => {
                let release = crate::requirements::release();
                Error::Requirement {
                    found: format!(
                        "the BBR of Linux {release} cannot be called from BPF ({reason})"
                    ),
                    expected: "a kernel whose BBR has kfuncs, and BTF of the module tcp_bbr \
                               (CONFIG_DEBUG_INFO_BTF_MODULES), or --growth cubic",
                }
            }
            _ => error,
        })?;
        let link = {
            let operations = object.maps_mut().find(|map| map.name() == growth.control());
            let mut operations: MapMut<'_> = operations.ok_or_else(|| Error::Program {
                what: "the congestion control".to_owned(),
                reason: "not in the object".to_owned(),
                source: None,
            })?;
            operations.attach_struct_ops().map_err(refused("registering the congestion control"))?
        };
        Ok(Self { link, _object: object })
    }

    /// Pins the registration, so that it outlives this process.
    pub(crate) fn pin(mut self, path: &Path) -> Result<(), Error> {
        self.link.pin(path).map_err(refused(path.to_string_lossy()))?;
        self.link.disconnect();
        Ok(())
    }
}

/// Returns whether the message of libbpf or the verifier concerns a function of the kernel.
fn is_about_kfuncs(reason: &str) -> bool {
    ["kfunc", "kernel function", "kernel btf"].iter().any(|words| reason.contains(words))
}

/// Properties of a kernel that programs need before they are loaded.
struct Kernel {
    /// Ticks per second.
    ticks: u32,
    /// Number of arguments of `cong_control`: two before 6.10, four since.
    cong_control_arguments: u32,
    /// Whether registrations are links, as they are since 6.4.
    has_links: bool,
    /// Whether the first packet in flight has its own callback, as it does since 7.1.
    has_start: bool,
}

impl Kernel {
    fn running() -> Result<Self, Error> {
        let unsuitable = |found: &str| Error::Requirement {
            found: found.to_owned(),
            expected: "a kernel with CONFIG_BPF_JIT, CONFIG_BPF_SYSCALL, CONFIG_DEBUG_INFO_BTF and TCP",
        };
        let btf = Btf::from_vmlinux().map_err(|_| unsuitable("BTF that cannot be read"))?;
        if btf.type_by_name::<Struct<'_>>("bpf_struct_ops_tcp_congestion_ops").is_none() {
            return Err(unsuitable("no congestion control in BPF in this kernel's configuration"));
        }
        let operations: Option<Struct<'_>> = btf.type_by_name("tcp_congestion_ops");
        let member = |called: &str| {
            let mut members = operations.as_ref()?.iter();
            members.find(|m| m.name.is_some_and(|name| name == called))
        };
        let arguments = member("cong_control").and_then(|member| {
            let pointer = Ptr::try_from(btf.type_by_id::<BtfType<'_>>(member.ty)?).ok()?;
            let function = pointer.referenced_type().skip_mods_and_typedefs();
            Some(FuncProto::try_from(function).ok()?.iter().count() as u32)
        });
        let arguments = arguments.ok_or_else(|| unsuitable("no cong_control in this kernel"))?;
        let mut values = btf.type_by_kind::<Enum<'_>>();
        let has_links = values.any(|e| e.iter().any(|v| v.name.is_some_and(|n| n == "BPF_F_LINK")));
        // The resolution of the coarse clock is one tick.
        let tick = clock_getres(ClockId::MonotonicCoarse).tv_nsec.max(1) as u64;
        let ticks = ((1_000_000_000 + tick / 2) / tick) as u32;
        let has_start = member("cwnd_event_tx_start").is_some();
        Ok(Self { ticks, cong_control_arguments: arguments, has_links, has_start })
    }

    /// Selects the congestion control with this growth, removes callbacks that this kernel does not have, and
    /// sets the constants. Other objects have only constants.
    fn fit(&self, mut object: OpenObject, growth: Growth) -> Result<OpenObject, Error> {
        for mut map in object.maps_mut() {
            if map.map_type() == MapType::StructOps {
                let is_selected = map.name() == growth.control();
                map.set_autocreate(is_selected).map_err(refused("selecting a registration"))?;
                if !self.has_links {
                    map.set_map_flags(0).map_err(refused("a registration without link"))?;
                }
                // The first members of the structure in linux.h.
                if let Some(value) = map.initial_value_mut() {
                    let unused =
                        [self.cong_control_arguments == 4, self.has_start, !self.has_start];
                    let members = value.chunks_exact_mut(size_of::<usize>()).zip(unused);
                    members.filter(|(_, unused)| *unused).for_each(|(member, _)| member.fill(0));
                }
            }
            let is_constants = is_constants(&map.name().to_string_lossy());
            if is_constants && let Some(value) = map.initial_value_mut() {
                // The first three words, which connection.h declares.
                value[0..4].copy_from_slice(&self.ticks.to_ne_bytes());
                value[4..8].copy_from_slice(&self.cong_control_arguments.to_ne_bytes());
                value[8..12].copy_from_slice(&u32::from(growth == Growth::Bbr).to_ne_bytes());
            }
        }
        Ok(object)
    }
}

/// Removes a pinned registration.
pub(crate) fn unregister(pin: &Path, growth: Growth) -> Result<(), Error> {
    let fail = || refused(pin.to_string_lossy());
    let mut link = Link::open(pin).map_err(fail())?;
    let kind = format!("/proc/self/fd/{}", link.as_fd().as_raw_fd());
    let kind = fs::read_link(&kind).map_err(Error::file(kind))?;
    if kind.to_string_lossy().contains("bpf-map") {
        // Before 6.4 the pin is that of the map, whose only element is the registration.
        let map = MapHandle::from_pinned_path(pin).map_err(fail())?;
        let deleted = map.delete(&0_u32.to_ne_bytes());
        // The registration may have ended between the two steps.
        if growth.is_registered() {
            deleted.map_err(fail())?;
        }
    }
    link.unpin().map_err(fail())
}

/// Returns the link that is pinned there, if any.
pub(crate) fn pinned(pin: &Path) -> Option<OwnedFd> {
    // libbpf prints a warning where there is none.
    let pin = pin.exists().then_some(pin)?;
    Link::open(pin).ok()?.as_fd().try_clone_to_owned().ok()
}

/// Returns the ids of the maps of all registrations of a congestion control in the kernel.
pub(crate) fn registrations(growth: Growth) -> Vec<u32> {
    let is_ours = |info: &MapInfo| {
        info.ty == MapType::StructOps && info.name.to_string_lossy() == growth.control()
    };
    MapInfoIter::default().filter(is_ours).map(|info| info.id).collect()
}

/// Removes registrations of killed processes. Before 6.4 a registration outlives its process. A
/// registration by a link belongs to a live process, and the kernel refuses to remove it.
pub(crate) fn unregister_left(growth: Growth) {
    for id in registrations(growth) {
        let map = MapHandle::from_map_id(id);
        let _ = map.and_then(|map| map.delete(&0_u32.to_ne_bytes()));
    }
}

/// Selects a congestion control for new connections of a cgroup.
pub(crate) fn choose_in_cgroup(cgroup: &Path, growth: Growth) -> Result<Links, Error> {
    let mut object = open(CGROUP)?;
    let mut constants = object.maps_mut().find(|map| is_constants(&map.name().to_string_lossy()));
    if let Some(value) = constants.as_mut().and_then(|map| map.initial_value_mut()) {
        let name = growth.control().as_bytes();
        value.fill(0);
        value[..name.len()].copy_from_slice(name);
    }
    let object = load(object)?;
    let directory = File::open(cgroup).map_err(Error::file(cgroup))?;
    let choose = program(&object, "choose")?;
    let link = choose.attach_cgroup(directory.as_raw_fd());
    let link = link.map_err(refused(format!("cgroup {}", cgroup.display())))?;
    Ok(Links(vec![("choose".to_owned(), link)]))
}

/// Program that resets listeners under the congestion control to the default of their network namespace.
pub(crate) struct Listeners(Object);

impl Listeners {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self(load(open(LISTENERS)?)?))
    }

    /// Resets the listeners of this thread's network namespace.
    pub(crate) fn reset(&self) -> Result<(), Error> {
        let what = "the iterator over listeners";
        let link = program(&self.0, "reset_listener")?.attach().map_err(refused(what))?;
        let mut iterator = Iter::new(&link).map_err(refused(what))?;
        iterator.read_to_end(&mut Vec::new()).map_err(Error::file(what))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use libbpf_rs::query::ProgInfoIter;

    use super::*;
    use crate::loading::{EXISTING, NAMESPACE, STATUS, TIMESTAMPS};

    #[test]
    fn the_verifier_takes_few_instructions_for_each_program() {
        if let Err(refusal) = crate::requirements::check() {
            eprintln!("skipped: {refusal}");
            return;
        }
        let kernel = Kernel::running().expect("it meets the requirements");
        let mut largest = 0;
        let compiled = |object| open(object).expect("it was compiled");
        let controls = Growth::ALL.map(|growth| kernel.fit(compiled(UNRUFFLED), growth));
        let controls = controls.map(|object| object.expect("a flag"));
        let others = [STATUS, CGROUP, TIMESTAMPS, LISTENERS, NAMESPACE, EXISTING].map(compiled);
        for object in controls.into_iter().chain(others) {
            let object = load(object).expect("this kernel takes it");
            let names: Vec<_> = object.progs().map(|p| p.name().to_owned()).collect();
            for info in ProgInfoIter::default() {
                if names.iter().any(|name| *name == *info.name.to_string_lossy()) {
                    largest = largest.max(info.verified_insns);
                }
            }
        }
        assert!((1..50_000).contains(&largest), "{largest} instructions");
    }
}
