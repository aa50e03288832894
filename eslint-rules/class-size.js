const maxFields = 10
const maxMethods = 20
const reason = /^[\s/*]*Large because \S+ \S+/m

const isFunction = (value) => value?.type === 'ArrowFunctionExpression' || value?.type === 'FunctionExpression'

/** Counts what the objects of a class hold. A field that holds a function counts as a method; static members and constructors do not count. */
function sizeOf(members) {
  let fields = 0
  let methods = 0
  for (const member of members) {
    if (member.static) continue
    if (member.type === 'PropertyDefinition' && !isFunction(member.value)) fields += 1
    else if (member.type === 'PropertyDefinition' || member.type === 'AccessorProperty') methods += 1
    else if (member.type === 'MethodDefinition' && member.kind !== 'constructor') methods += 1
  }
  return { fields, methods }
}

/**
 * Refuses classes with more fields or methods than a reader keeps in mind, unless a line of their docstring begins with `Large because` and says why.
 * Refuses such a line, too, where the class is not large any more.
 */
export const classSize = {
  meta: { type: 'problem', schema: [], docs: { description: 'limit the fields and methods of a class' } },
  create(context) {
    const docOf = (node) => {
      const statement = node.parent.type.startsWith('Export') ? node.parent : node
      return context.sourceCode.getCommentsBefore(statement).at(-1)?.value ?? ''
    }
    return {
      ClassBody(body) {
        const node = body.parent
        const { fields, methods } = sizeOf(body.body)
        const large = fields > maxFields || methods > maxMethods
        if (large === reason.test(docOf(node))) return
        const name = node.id?.name ?? 'This class'
        const size = `${fields} fields (at most ${maxFields}) and ${methods} methods (at most ${maxMethods})`
        const message = large
          ? `${name} has ${size}: split it by what changes together, or give the reason in a line of its docstring that begins with "Large because".`
          : `${name} has ${size}: it is not large, so its docstring needs no "Large because".`
        context.report({ node: node.id ?? node, message })
      },
    }
  },
}
