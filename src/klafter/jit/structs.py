"""References to structs whose fields bare kernels can read.

Numba's own (``structref``) reach their fields through the runtime that counts references, and bare kernels go without
it. These follow the pointer themselves, so a field costs a load there.
"""

from llvmlite import ir
from numba.core import cgutils, imputils, types
from numba.core.datamodel import default_manager, models
from numba.core.typing.templates import AttributeTemplate
from numba.experimental import structref
from numba.extending import infer_getattr, lower_getattr_generic, lower_setattr_generic

from klafter.jit.plain import PLAIN, define_plain

POINTER = ir.PointerType(ir.IntType(8))
HEAD = ir.LiteralStructType([ir.IntType(64), POINTER, POINTER, POINTER])  # count, destructor, its argument, the struct


def define_reference(proxy: type, kind: type[types.StructRef], fields: list[str]) -> None:
    """Make ``proxy(*fields)`` in a kernel a reference of this kind to a new struct."""
    if PLAIN:
        define_plain(proxy, fields)
        return
    default_manager.register(kind, models.StructRefModel)
    infer_getattr(type(f"{kind.__name__}Fields", (AttributeTemplate,), {"key": kind, "generic_resolve": _type_of}))
    lower_getattr_generic(kind)(_get)
    lower_setattr_generic(kind)(_set)
    structref.define_proxy(proxy, kind, fields)


def _type_of(template, kind, name):
    return kind.field_dict.get(name)


def _fields_of(context, builder, kind, reference):
    """The struct that a reference points to."""
    head = cgutils.create_struct_proxy(kind)(context, builder, value=reference).meminfo
    pointer = builder.load(cgutils.gep_inbounds(builder, builder.bitcast(head, HEAD.as_pointer()), 0, 3))
    inside = kind.get_data_type()
    layout = context.data_model_manager[inside].get_value_type()
    return cgutils.create_struct_proxy(inside)(context, builder, ref=builder.bitcast(pointer, layout.as_pointer()))


def _get(context, builder, kind, reference, name):
    value = getattr(_fields_of(context, builder, kind, reference), name)
    return imputils.impl_ret_borrowed(context, builder, kind.field_dict[name], value)


def _set(context, builder, signature, args, name):
    kind, given = signature.args
    reference, value = args
    fields = _fields_of(context, builder, kind, reference)
    value = context.cast(builder, value, given, kind.field_dict[name])
    before = getattr(fields, name)
    context.nrt.incref(builder, given, value)
    context.nrt.decref(builder, given, before)
    setattr(fields, name, value)
