"""The package works as plain Python too, and the numba that is installed has what ``klafter.jit`` takes from it.

``klafter`` is imported inside of tests: where numba lacks something, the tests of numba still run and say what.
"""

import importlib
import inspect
import json
import os
import subprocess
import sys
from functools import reduce

import numba
import pytest

SETTINGS = {"n_init": 1, "max_iter": 1, "random_state": 0}
PLAIN = """
import json, sys
from klafter import KLafter
from klafter.core.workspace import open_workspace
from klafter.datasets import load_karate

assert type(open_workspace).__name__ == "function", "kernels are compiled"
model = KLafter(**json.loads(sys.argv[1])).fit(load_karate())
print(json.dumps([float(model.objective_), model.n_communities_]))
"""


@pytest.mark.parametrize("options", [{"link": "logit", "n_smooth": 4}, {"link": "exposure"}], ids=["logit", "exposure"])
def test_plain_python_fits_as_compiled_kernels_do(options):
    from klafter import KLafter
    from klafter.datasets import load_karate

    settings = {**SETTINGS, **options}
    command = [sys.executable, "-c", PLAIN, json.dumps(settings)]
    plain = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    assert plain.returncode == 0, plain.stderr
    objective, n_communities = json.loads(plain.stdout)
    model = KLafter(**settings).fit(load_karate())
    assert objective == pytest.approx(model.objective_, rel=1e-6)
    assert n_communities == model.n_communities_


CALLED = {
    "numba.core.codegen:JITCodeLibrary.__init__": "self codegen name",
    "numba.core.codegen:JITCodeLibrary._optimize_final_module": "self",
    "numba.core.codegen:JITCodeLibrary._finalize_final_module": "self",
    "numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals": "self",
    "numba.core.codegen:JITCodeLibrary._verify_declare_only_symbols": "self",
    "numba.core.codegen:JITCodeLibrary.get_pointer_to_function": "self name",
    "numba.core.codegen:JITCPUCodegen.set_env": "self env_name env",
    "numba.core.caching:_Cache.load_overload": "self sig target_context",
    "numba.core.caching:_Cache.save_overload": "self sig data",
    "numba.core.codegen:CPUCodegen.magic_tuple": "self",
    "numba.core.codegen:JITCodeLibrary.enable_object_caching": "self",
    "numba.core.compiler:Compiler.compile_extra": "self func",
    "numba.core.compiler:CompileResult._reduce": "self",
    "numba.core.compiler:CompileResult._rebuild": (
        "target_context libdata fndesc env signature objectmode lifted typeann reload_init referenced_envs"
    ),
    "numba.core.serialize:dumps": "obj",
    "numba.core.dispatcher:Dispatcher.get_call_template": "self args kws",
    "numba.core.event:install_listener": "kind listener",
    "numba.core.event:Listener.on_start": "self event",
    "numba.core.event:Listener.on_end": "self event",
    "numba.core.types:unliteral": "lit_type",
    "numba.core.types:StructRef.get_data_type": "self",
    "numba.core.datamodel:default_manager.register": "fetypecls handler",
    "numba.core.cgutils:create_struct_proxy": "fe_type kind",
    "numba.core.cgutils:gep_inbounds": "builder ptr inds kws",
    "numba.core.imputils:impl_ret_borrowed": "ctx builder retty ret",
    "numba.core.base:BaseContext.cast": "self builder val fromty toty",
    "numba.core.runtime.context:NRTContext.incref": "self builder typ value",
    "numba.core.runtime.context:NRTContext.decref": "self builder typ value",
    "numba.experimental.structref:define_proxy": "py_class struct_typeclass fields",
    "numba.experimental.structref:StructRefProxy.__new__": "cls args",
    "numba.extending:infer_getattr": "item",
    "numba.extending:lower_getattr_generic": "ty",
    "numba.extending:lower_setattr_generic": "ty",
}
READ = [
    "numba:config.BOUNDSCHECK",
    "numba:config.CPU_FEATURES",
    "numba:config.CPU_NAME",
    "numba:config.DEBUGINFO_DEFAULT",
    "numba:config.DISABLE_JIT",
    "numba:config.OPT",
    "numba:config.USING_SVML",
    "numba.core.codegen:JITCPUCodegen._library_class",
    "numba.core.codegen:JITCodeLibrary._finalized",
    "numba.core.codegen:JITCodeLibrary.codegen",
    "numba.core.codegen:JITCodeLibrary.has_dynamic_globals",
    "numba.core.datamodel:models.StructRefModel",
    "numba.core.types:StructRef.field_dict",
    "numba.core.typing.templates:AttributeTemplate.generic_resolve",
    "numba.core.pythonapi:_unboxers.functions",
    "numba.core.pythonapi:NativeValue",
]
OPTIONS = ["_nrt", "error_model", "fastmath", "forceinline", "no_cfunc_wrapper", "no_cpython_wrapper", "nogil"]


def broken(what):
    return f"numba {numba.__version__} is installed, and klafter.jit does not fit it: {what}"


def part_of_numba(name):
    module, path = name.split(":")
    try:
        return reduce(getattr, path.split("."), importlib.import_module(module))
    except (ImportError, AttributeError) as error:
        pytest.fail(broken(f"{name} is gone ({error})"))


@pytest.mark.parametrize("name", CALLED)
def test_numba_has_the_functions_that_are_called_or_replaced(name):
    found = " ".join(inspect.signature(part_of_numba(name)).parameters)
    assert found == CALLED[name], broken(f"{name} takes ({found}), not ({CALLED[name]})")


@pytest.mark.parametrize("name", READ)
def test_numba_has_the_attributes_that_are_read_or_replaced(name):
    part_of_numba(name)


@pytest.mark.parametrize("name", OPTIONS)
def test_numba_has_the_options_of_kernels(name):
    assert hasattr(part_of_numba("numba.core.cpu:CPUTargetOptions"), name), broken(f"no option {name} of njit")


def test_dispatchers_of_numba_take_options_and_a_pipeline():
    taken = inspect.signature(part_of_numba("numba.core.dispatcher:Dispatcher.__init__")).parameters
    assert {"targetoptions", "pipeline_class"} <= set(taken), broken(f"a dispatcher takes only {list(taken)}")


def test_dispatchers_of_numba_ask_a_cache_that_can_be_replaced():
    assert hasattr(numba.njit(lambda x: x), "_cache"), broken("a dispatcher has no _cache")


def test_numba_tells_of_compilation():
    from numba.core import event

    heard = event.RecordingListener()
    with event.install_listener("numba:compile", heard):
        numba.njit(lambda x: x + 3)(1)
    assert heard.buffer, broken("no event numba:compile while something is compiled")


def test_counted_memory_of_numba_is_laid_out_as_structs_expect():
    from klafter.jit.structs import HEAD

    found = part_of_numba("numba.core.runtime.nrtdynmod:_meminfo_struct_type").elements
    assert found[: len(HEAD.elements)] == HEAD.elements, broken(f"counted memory begins with {list(map(str, found))}")


def test_bit_generators_of_numba_have_the_fields_that_are_filled():
    from numba.core.datamodel import default_manager

    from klafter.jit.generators import FIELDS

    kind = part_of_numba("numba.core.types:NumPyRandomBitGeneratorType")("bit_generator")
    expected = {"parent", "bit_generator", "state_address", "state", *(f"fnptr_{name}" for name in FIELDS[1:])}
    found = set(default_manager.lookup(kind)._fields)
    assert found == expected, broken(f"a bit generator has the fields {found}")
