"""How kernels receive a ``numpy.random.Generator``: its C struct is read, and no Python runs meanwhile.

Numba's own way calls ``ctypes.cast`` and reads what it returns unseen. When Ctrl-C is heard inside of that call, it
returns nothing, and the process crashes.
"""

import numba.core.boxing  # noqa: F401  (its own way, which is replaced here)
from llvmlite import ir
from numba.core import cgutils, pythonapi, types

VOID = ir.IntType(8).as_pointer()
FIELDS = ("state", "next_uint64", "next_uint32", "next_double")  # the first ones of bitgen_t, numpy/random/bitgen.h


def unbox_bit_generator(kind, obj, c):
    """The struct behind ``bit_generator.capsule``, as the fields that Numba's random numbers use."""
    builder = c.builder
    result = cgutils.create_struct_proxy(kind)(c.context, builder)
    result.parent = obj
    failed = cgutils.alloca_once_value(builder, cgutils.true_bit)
    capsule = c.pyapi.object_getattr_string(obj, "capsule")
    with cgutils.if_likely(builder, cgutils.is_not_null(builder, capsule)):
        pointer = _pointer_of(c, capsule)
        c.pyapi.decref(capsule)
        with cgutils.if_likely(builder, cgutils.is_not_null(builder, pointer)):
            values = _addresses(builder, pointer, result.state.type)
            result.state_address = values["state"]
            result.state = values["state"]
            for name in FIELDS[1:]:
                setattr(result, f"fnptr_{name}", values[name])
            builder.store(cgutils.false_bit, failed)
    return pythonapi.NativeValue(result._getvalue(), is_error=builder.load(failed))


def _pointer_of(c, capsule):
    form = ir.FunctionType(VOID, [capsule.type, VOID])
    get = cgutils.get_or_insert_function(c.builder.module, form, "PyCapsule_GetPointer")
    return c.builder.call(get, [capsule, c.context.insert_const_string(c.builder.module, "BitGenerator")])


def _addresses(builder, pointer, word):
    struct = builder.bitcast(pointer, word.as_pointer())
    return {name: builder.load(cgutils.gep(builder, struct, place)) for place, name in enumerate(FIELDS)}


pythonapi._unboxers.functions[types.NumPyRandomBitGeneratorType] = unbox_bit_generator
